"""Stage ``answers``: simulated answers as files, the same that a run with these settings draws.

``python -m reproduction.stages.answers -m data=face annotations=quota seed=0-4`` writes into a folder for each job
``answers.csv``, which ``annotations=file annotations.path=…`` reads.
"""

import sys
from pathlib import Path

import hydra
from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig, OmegaConf

from reproduction.app import CONF, command
from reproduction.run import inputs
from semicrowd.crowd import answer_files
from semicrowd.errors import UserError
from semicrowd.files import write_text


@hydra.main(version_base="1.3", config_path=CONF, config_name="config")
def main(cfg: DictConfig) -> None:
    """One set of answers, into the folder of the job."""
    folder = Path(HydraConfig.get().runtime.output_dir)
    _, answers = inputs(cfg)
    if answers is None:
        raise UserError(f"annotations={cfg.annotations._target_}: expected one that gives answers")
    answer_files.write(answers, folder / "answers.csv")
    made_of = OmegaConf.masked_copy(cfg, ["data", "annotations", "seed"])
    write_text(folder / "config.yaml", OmegaConf.to_yaml(made_of, resolve=True))


if __name__ == "__main__":
    sys.exit(command(main))
