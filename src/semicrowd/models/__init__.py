"""The generative models: tensors and typed settings in; bound, posterior, samples and a state out."""
