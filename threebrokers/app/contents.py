"""The files that JupyterLab shows: those that the course has built are read-only there."""

from copy import deepcopy
from pathlib import Path
from typing import Any

from ipykernel.ipkernel import IPythonKernel
from ipykernel.kernelspec import KERNEL_NAME
from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager
from tornado.web import HTTPError

from threebrokers import workspace
from threebrokers.paths import course, is_clone

READ_ONLY = ("labs", "solutions")
MARKS = {"editable": False, "deletable": False}  # of each cell that is read-only


class CourseFiles(AsyncLargeFileManager):  # type: ignore[misc]
    """Jupyter's own manager of files, for the repo: labs/ and solutions/ can be read, run and copied.

    What a learner's page would save there is refused, so the checkout stays as it is. (The rights of a
    file would not do: they mean nothing to root, the only user of many containers.) Without a clone these
    are links into the installed package; a folder of that name that is the learner's own is not meant.
    """

    def _is_built(self, path: str) -> bool:
        root = Path(self.root_dir)
        built = READ_ONLY if is_clone() else [n for n in workspace.LENT if workspace.is_lent(root / n)]
        return any(_is_same(root, path.strip("/").partition("/")[0], name) for name in built)

    def _refuse(self, path: str) -> None:
        if self._is_built(path):
            raise HTTPError(
                403, f"{path} belongs to the course and is read-only: your own labs are in work/."
            )

    def is_writable(self, path: str) -> bool:
        """Tell whether a file or folder may be changed: JupyterLab asks before it saves."""
        return not self._is_built(path) and bool(super().is_writable(path))

    async def get(self, path: str, content: bool = True, **more: Any) -> Any:
        """Return a file or folder. Raises HTTPError, which says how to get a damaged notebook again."""
        try:
            model = await super().get(path, content, **more)
        except HTTPError as fault:
            folder, _, name = path.strip("/").rpartition("/")
            if fault.status_code != 400 or folder != "work" or not _is_of_a_lab(name):
                raise
            command = f"{'.venv/bin/' if is_clone() else ''}threebrokers restore {name[:2]}"
            raise HTTPError(
                400,
                f"{path} is damaged: it is not a notebook. `{command}` in a "
                "terminal brings the untouched lab back, and keeps this file beside it.",
            ) from fault
        if content and model["type"] == "notebook":
            _name_language(model["content"].metadata)
            if self._is_built(path):
                for cell in model["content"].cells:  # else letters are taken, and lost with the page
                    cell.metadata.update(MARKS)
        return model

    async def save(self, model: dict[str, Any], path: str = "") -> Any:
        """Save a file; of what is read-only a copy, whose cells the learner may edit."""
        self._refuse(path)
        if model.get("type") == "notebook" and isinstance(model.get("content"), dict):
            _take_off_marks(model["content"])
        return await super().save(model, path)

    async def copy(self, from_path: str, to_path: str | None = None) -> Any:
        """Copy a file or a folder: of a folder Jupyter copies all files itself, and saves none."""
        self._refuse(from_path.strip("/").rpartition("/")[0] if to_path is None else to_path)
        return await super().copy(from_path, to_path)

    async def rename_file(self, old_path: str, new_path: str) -> None:
        """Rename or move a file."""
        self._refuse(old_path)
        self._refuse(new_path)
        await super().rename_file(old_path, new_path)

    async def delete_file(self, path: str) -> None:
        """Delete a file."""
        self._refuse(path)
        await super().delete_file(path)


def _is_same(root: Path, asked: str, name: str) -> bool:
    """Tell whether this folder is meant: on macOS `Labs` is `labs`."""
    try:
        return asked == name or (asked != "" and (root / asked).samefile(root / name))
    except (OSError, ValueError):  # there is none, or no file can have this name
        return False


def _is_of_a_lab(name: str) -> bool:
    return name.endswith(".ipynb") and (course() / "labs" / name).is_file()


def _take_off_marks(notebook: dict[str, Any]) -> None:
    for cell in notebook.get("cells", ()):
        for mark in MARKS:
            cell.get("metadata", {}).pop(mark, None)


def _name_language(metadata: dict[str, Any]) -> None:
    """Say of a notebook's language what its kernel will say, if that is the course's own.

    JupyterLab writes that into each notebook that it opens: one that says something else, or nothing, is
    marked as changed, and saved, before anybody has touched it.
    """
    if metadata.get("kernelspec", {}).get("name") == KERNEL_NAME:
        metadata["language_info"] = deepcopy(IPythonKernel.language_info)
