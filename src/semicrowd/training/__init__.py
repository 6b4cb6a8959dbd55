"""SCDC and BayesSCDC trained by Lightning: module, data module, callbacks."""
