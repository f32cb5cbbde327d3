"""The command line: one file for each command.

Commands load when they are called, so that `credo --help` answers at once. Bad input ends
with one sentence on standard error and exit code 2; Ctrl-C with exit code 130.
"""

from __future__ import annotations

import sys
from importlib import import_module

import click

from credo import __version__
from credo.core.errors import CredoError, out_of_memory

__all__ = ["app", "main"]

_NO_MEMORY = "There is not enough memory for this. Try fewer columns, or --memory 2GB."
# command → one line for --help; `commands/` has a file for each
_COMMANDS = {
    "schema": "Show what credo sees in a table: kinds, states, gaps.",
    "cut": "Cut the numbers of a table into intervals, where the rows ask for it.",
    "learn": "Learn a network from a table: its graph and its parameters.",
    "average": "How sure is the graph? Weigh all graphs of a table by its rows.",
    "score": "Score a graph on a table, family by family.",
    "fit": "Learn the tables of a graph from rows, with their uncertainty.",
    "ask": "Ask a network a question, such as 'P(lung | smoke=yes)'.",
    "causes": "Say what rows tell of causes when some may be hidden: a class of graphs (FCI).",
    "identify": "Say whether an effect can be known from a graph, and by which formula.",
    "effect": "Estimate how much setting one variable changes another.",
    "check": "Check a model on a table: what it gets wrong, what to do.",
    "compare": "Compare models: edge by edge, and on rows.",
    "sensitivity": "How far must a parameter move to change an answer?",
    "value": "Which variable would tell most of another, in bits?",
    "decide": "What to do, how sure that is, and what is worth knowing first.",
    "em": "Learn a graph's tables from rows with gaps or hidden variables.",
    "impute": "Fill the gaps of a table with a network.",
    "show": "Show a network: its variables, a table, a picture.",
    "sample": "Draw rows from a network, all of it or given evidence.",
    "classify": "Learn to predict one column of a table from the others.",
    "report": "Write everything about a model to one HTML page.",
    "cluster": "Find groups of similar rows, and say what they are.",
    "sql": "Write a network as one SELECT that scores a table where it lies.",
    "convert": "Write a network in another file format.",
    "studio": "Open a network in the browser: click a state, see what moves.",
    "fit-markov": "Learn a Markov network from a table and a graph.",
    "completion": "Print the completion script of a shell.",
    "demo": "Run the main job on the tables that come with credo.",
}


def has_command(name: str) -> bool:
    """Whether there is a command of this name."""
    return name in _COMMANDS


class _Commands(click.Group):
    """A group whose commands are imported when they are needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module = import_module(f"credo.cli.commands.{cmd_name.replace('-', '_')}")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        from credo.core.errors import close_names

        if args and args[0] not in _COMMANDS:
            near = close_names(args[0], _COMMANDS)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise click.UsageError(f"There is no command {args[0]!r}.{hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


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
        code = app(prog_name="credo", standalone_mode=False)
        sys.stdout.flush()
    except CredoError as error:
        _complain(str(error))
        code = 2
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        code = 2
    except click.ClickException as error:
        _complain(f"{_said(error)} See '{_path_of(error)} --help'.")
        code = 2
    except (click.Abort, KeyboardInterrupt) as error:
        click.echo(str(error) or "Stopped.", err=True)
        code = 130
    except (MemoryError, ImportError, RuntimeError) as error:
        if not out_of_memory(error):
            raise
        _complain(_NO_MEMORY)
        code = 2
    except BrokenPipeError:
        sys.stderr.close()
        code = 0
    except SystemExit:  # rich's answer to a pipe that was closed
        code = 0
    except OSError as error:
        place = f" to {error.filename}" if isinstance(error.filename, str) else ""
        said = f"The output cannot be written{place}: {error.strerror or error}."
        _complain(_NO_MEMORY if out_of_memory(error) else said)
        code = 2
    sys.exit(code if isinstance(code, int) else 0)


def _path_of(error: click.ClickException) -> str:
    """The command that was called, for its help; an option without its value does not say."""
    where = getattr(error, "ctx", None)
    if where is not None and where.parent is not None:
        return str(where.command_path)
    return f"credo {sys.argv[1]}" if len(sys.argv) > 1 and has_command(sys.argv[1]) else "credo"


def _said(error: click.ClickException) -> str:
    """The sentence of click, with what an option that is missing is for, and its full stop."""
    text = error.format_message()
    if isinstance(error, click.MissingParameter) and isinstance(error.param, click.Option):
        name, help_text = error.param.opts[0], error.param.help or ""
        text = f"Missing option {name!r}: {help_text[:1].lower()}{help_text[1:]}"
    context = getattr(error, "ctx", None)
    if context is not None and text.startswith("Got unexpected extra argument"):
        taken = [a for a in context.command.collect_usage_pieces(context) if a != "[OPTIONS]"]
        text = f"{text}; {context.command_path} takes {' '.join(taken) or 'none'}"
    return text if text.endswith((".", "?", "?)")) else f"{text}."


def _complain(text: str) -> None:
    from credo.cli.words import in_options

    text = in_options(text)
    click.secho("Error: ", fg="red", bold=True, nl=False, err=True)
    sentence, *pointer = text.split("\n")
    if len(pointer) >= 2 and pointer[1].lstrip().startswith("^"):  # the text, and where it is wrong
        click.echo(" ".join(sentence.split()), err=True)
        click.echo("\n".join(pointer), err=True)
        return
    click.echo(" ".join(text.split()), err=True)
