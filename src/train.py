"""Train a model, or a sweep of them: ``python src/train.py --help``."""

import sys

import hydra

from reproduction.app import CONF, command, train

main = hydra.main(version_base="1.3", config_path=CONF, config_name="config")(train)

if __name__ == "__main__":
    sys.exit(command(main))
