"""environment.yml: what it lists, and its versions written anew."""

import re
from collections.abc import Mapping

from tools import ROOT

FILE = ROOT / "environment.yml"
# conda-forge's name and PyPI's, where they differ. PyPI's name is another package there, or more than needed.
NAMES = {
    "docker-py": "docker",
    "jupyter_client": "jupyter-client",
    "jupyter_server": "jupyter-server",
    "jupyterlab_widgets": "jupyterlab-widgets",
    "matplotlib-base": "matplotlib",
    "python-confluent-kafka": "confluent-kafka",
}
# They have to be compiled where no wheel fits, which needs tools that learners do not have.
WHEELS_ONLY = "confluent-kafka,matplotlib,numpy,pandas,pyarrow"
LINE = re.compile(r"^( *- )([\w.-]+)==([\w.]+)", re.MULTILINE)


def listed(text: str) -> tuple[dict[str, str], dict[str, str]]:
    """Return the exact versions that conda brings and those that pip brings, by PyPI's names.

    Raises ValueError for a conda package under PyPI's name, and for one that is listed twice.
    """
    by_conda, _, by_pip = text.partition("- pip:\n")
    names = [name for _, name, _ in LINE.findall(by_conda)]
    wrong = sorted({*names} & {*NAMES.values()})
    if wrong:
        raise ValueError(
            f"{', '.join(wrong)} has another name on conda-forge: see tools/setup/conda_file.py."
        )
    conda = {NAMES.get(name, name): version for _, name, version in LINE.findall(by_conda)}
    pip = {name: version for _, name, version in LINE.findall(by_pip)}
    if len(conda) + len(pip) != len({*conda, *pip}) or len(LINE.findall(text)) != len({*conda, *pip}):
        raise ValueError("environment.yml lists a package twice.")
    return conda, pip


def renewed(text: str, versions: Mapping[str, str]) -> str:
    """Return the file's text with these versions (by PyPI's names); the rest stays as it is."""

    def line(found: re.Match[str]) -> str:
        dash, name, version = found.groups()
        return f"{dash}{name}=={versions.get(NAMES.get(name, name), version)}"

    return LINE.sub(line, text)
