"""What a wheel holds besides the package: hatchling runs this while it builds one (`make wheel`)."""

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

COURSE = "threebrokers/course"
FOLDERS = {"labs": "*.ipynb", "solutions": "*.ipynb", "slides": "**/*", "docs": "*.md"}
FILES = ("docker-compose.yml", "requirements.txt", "LICENSE")


class CustomBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Maps the course's files into the package; a clone is installed as it lies there, and needs none."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Name the files, each with its place in the wheel."""
        if version == "editable":
            return
        from pathlib import Path

        root = Path(self.root)
        found = [root / name for name in FILES]
        for folder, pattern in FOLDERS.items():
            found += sorted(path for path in (root / folder).glob(pattern) if path.is_file())
        for path in found:
            build_data["force_include"][str(path)] = f"{COURSE}/{path.relative_to(root).as_posix()}"
