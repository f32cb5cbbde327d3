"""The command line: `credo schema`, `credo demo`, and one file for each command to come.

Commands load when they are called, so that `credo --help` answers at once. Bad input ends
with one sentence on standard error and exit code 2; Ctrl-C with exit code 130.
"""

from __future__ import annotations

import re
import sys
from importlib import import_module

import click

from credo import __version__
from credo.errors import CredoError

__all__ = ["app", "main"]

# command → (the module that holds it, one line for --help)
_COMMANDS = {
    "schema": ("credo.cli.schema", "Show what credo sees in a table: kinds, states, gaps."),
    "learn": ("credo.cli.learn", "Learn a network from a table: its graph and its parameters."),
    "score": ("credo.cli.score", "Score a graph on a table, family by family."),
    "fit": ("credo.cli.fit", "Learn the tables of a graph from rows, with their uncertainty."),
    "ask": ("credo.cli.ask", "Ask a network a question, such as 'P(lung | smoke=yes)'."),
    "em": ("credo.cli.em", "Learn a graph's tables from rows with gaps or hidden variables."),
    "impute": ("credo.cli.impute", "Fill the gaps of a table with a network."),
    "show": ("credo.cli.show", "Show a network: its variables, a table, a picture."),
    "sample": ("credo.cli.sample", "Draw rows from a network, all of it or given evidence."),
    "classify": ("credo.cli.classify", "Learn to predict one column of a table from the others."),
    "cluster": ("credo.cli.cluster", "Find groups of similar rows, and say what they are."),
    "convert": ("credo.cli.convert", "Write a network in another file format."),
    "fit-markov": ("credo.cli.fit_markov", "Learn a Markov network from a table and a graph."),
    "demo": ("credo.cli.demo", "Run the main job on the tables that come with credo."),
}


class _Commands(click.Group):
    """A group whose commands are imported when they are needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module = import_module(_COMMANDS[cmd_name][0])
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        from credo.errors import close_names

        if args and args[0] not in _COMMANDS:
            near = close_names(args[0], _COMMANDS)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise click.UsageError(f"There is no command {args[0]!r}.{hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in _COMMANDS.items()])


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="credo")
def app() -> None:
    """From a table of data to a probabilistic model you can question, with its uncertainty."""


def main() -> None:
    """Run the command line; every refusal is one sentence and exit code 2."""
    try:
        code = app(standalone_mode=False)
        sys.stdout.flush()
    except CredoError as error:
        _complain(str(error))
        code = 2
    except click.ClickException as error:
        where = getattr(error, "ctx", None)
        help_of = where.command_path if where is not None else "credo"
        _complain(f"{error.format_message()} See '{help_of} --help'.")
        code = 2
    except (click.Abort, KeyboardInterrupt):
        _complain("Stopped.")
        code = 130
    except BrokenPipeError:
        sys.stderr.close()
        code = 0
    except OSError as error:
        _complain(f"The output cannot be written: {error.strerror or error}.")
        code = 2
    sys.exit(code if isinstance(code, int) else 0)


# how the library's own advice reads on the command line
_ADVICE = (
    (r"ragged='skip'", "--skip-ragged"),
    (r"schema=\{'(.+?)': 'discrete'\} \(or 'continuous'\)", r"--kind '\1=discrete'"),
    (r"schema=\{'(.+?)': 'drop'\}", r"--drop '\1'"),
    (r"schema=\{'(.+?)': '(.+?)'\}", r"--kind '\1=\2'"),
    (r"the states in schema=", "its --states"),
    (r"Name the kinds in schema=", "Name kinds with --kind"),
    (r"encoding='(.+?)'", r"--encoding \1"),
    (r"method=['\"]([\w-]+)['\"]", r"--method \1"),
    (r"\b(missing|memory|weights|delimiter|stability)=", r"--\1"),
    (r"\b(scale|distance)=", r"--\1 "),
    (r"\bGive k=", "Give --k"),
    (r"\b(landmarks|neighbours|starts)=", r"--set \1="),
    (
        r"cr\.fit\(net, rows, prior=cr\.BDeu\(1\)\)",
        "credo fit MODEL TABLE --prior bdeu -o new.credo",
    ),
    (r"estimate='(mean|mle)'", r"--estimate \1"),
    (r"prior=cr\.BDeu\(1\)", "--prior bdeu"),
    (r"cr\.fit_markov\(graph, rows\)", "credo fit-markov TABLE --like MODEL"),
    (r"\bcr\.fit learns", "credo fit learns"),
    (r"\bdraws=(\d+)", r"--draws \1"),
    (r"save to_network\(\) of it", "convert it with --directed"),
)


def _complain(text: str) -> None:
    for python, option in _ADVICE:
        text = re.sub(python, option, text)
    click.secho("Error: ", fg="red", bold=True, nl=False, err=True)
    click.echo(" ".join(text.split()), err=True)
