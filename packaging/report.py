"""Writes what was seen of the packages into docs/packages.md, between its two marks."""

import pathlib

import build

BEGIN, END = "<!-- seen: scripts/test-dist writes this -->\n", "<!-- end of what was seen -->\n"


def write(results: list, folder: pathlib.Path) -> None:
    page = build.ROOT / "docs/packages.md"
    text = page.read_text()
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    page.write_text(before + BEGIN + seen(results, folder) + END + after)
    print(f"{page} is written")


def seen(results: list, folder: pathlib.Path) -> str:
    lines = [
        f"\nEach package of `planwright {results[0].version}` was installed into a Debian 12 of its own with nothing else in it, without a network.\n",
        "| package | MB | installed with | tools over MCP | demonstration | dashboard | removed, nothing left but the data |",
        "|---|---:|---|---:|---|---|---|",
    ]
    for result in results:
        size = (folder / result.package).stat().st_size / 1e6
        lines.append(
            f"| `{result.package}` | {size:.1f} | {result.installed_with} | {result.tools} | {result.demonstration} | {result.dashboard} | {result.removed} |"
        )
    return "\n".join(lines) + "\n\n"
