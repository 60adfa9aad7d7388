"""The reports behind the cases: what happened to people with other tools, and what agentctl does there."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Report:
    """One report. `source` is an address on github.com; `also` names files whose tests of it bear no number."""

    number: int
    kind: str
    source: str
    elsewhere: str
    here: str
    also: tuple[str, ...] = ()


def _issue(repository: str, number: int) -> str:
    return f"{repository}/issues/{number}"


def _pull(repository: str, number: int) -> str:
    return f"{repository}/pull/{number}"


_AIDER = "Aider-AI/aider"
_CLAUDE = "anthropics/claude-code"
_CLINE = "cline/cline"
_OPENCODE = "anomalyco/opencode"
_LITELLM = "BerriAI/litellm"
_CLIENT = "model/test_client_calls.py"

REPORTS: tuple[Report, ...] = (
    Report(1, "a", _issue(_AIDER, 1547), "the first commit by the tool in a repository without one ended in a traceback", "a step and every reading command ask for a first commit; `init` may make it"),
    Report(2, "a", _issue(_AIDER, 520), "on a detached HEAD the tool crashed, or committed to no branch", "whatever would commit refuses and names `git switch -c`"),
    Report(4, "a", _issue("pre-commit/pre-commit", 532), "a formatting hook refuses once by design; agents reported a commit that wasn't there", "what the hook changed goes through the gate and is committed at a second try; success is HEAD with the step's trailer"),
    Report(5, "a", _issue(_AIDER, 5057), "commits skipped the repository's hooks without being asked", "hooks always run; what they say goes to the worker, then into the note; the work is kept under a ref"),
    Report(7, "a", _issue("gitpython-developers/GitPython", 1189), "staging through a library ignored autocrlf, so one new line became a whole new file", "git itself stages: one added line is one line of the diff"),
    Report(8, "a", _issue("gitpython-developers/GitPython", 1290), "staging through a library bypassed LFS", "filters run; one that fails ends the step with its name, and the next step picks the work up"),
    Report(10, "a", _issue(_AIDER, 500), "git's question who you are was sent to the model as a fault in the code", "refused before any model call, with the two settings to type"),
    Report(11, "a", _issue(_AIDER, 1447), "a clone of another user's was reported as an option that git doesn't know", "git's own advice is shown; nobody's config is changed"),
    Report(13, "a", _issue("evilmartians/lefthook", 1265), "GIT_DIR inherited from a hook sent a test's commits into the real repository", "such variables are dropped for agentctl, its checks and the worker's commands; hooks get what git gives them"),
    Report(14, "a", _issue("gastownhall/beads", 785), "work trees of a bare repository were taken for none", "a work tree is a normal place; in the bare repository it is said how to make one"),
    Report(16, "a", _issue(_AIDER, 3427), "a submodule was listed as a file, reported as deleted, or moved by accident", "its files are out of reach, its pointer stays, and one that stood elsewhere before the step is left so"),
    Report(17, "a", _issue("open-mercato/cezar", 62), "`git add -A` took private and built files along", "only what the step itself made or changed is committed, even if a command staged more"),
    Report(19, "a", _issue("spec-kitty/spec-kitty", 152), "state in an ignored folder was forced in, or lost without a word", "refused with the file and line of the rule, also by commands that only read"),
    Report(20, "a", _issue(_AIDER, 2130), "an edit of an ignored file was applied and then failed the commit", "the edit is refused before anything is written, and the rule is named"),
    Report(22, "a", _issue(_AIDER, 82), "names beyond ASCII came back quoted and were taken for the names", "every list of paths from git is read as bytes ended by NUL"),
    Report(23, "a", _issue(_AIDER, 4117), "a name that isn't UTF-8 made the changes look like none", "such files are seen, named visibly, and edited"),
    Report(25, "a", _issue(_CLAUDE, 20356), "an edit took the executable bit away", "mode bits stay"),
    Report(26, "a", _pull("coder/coder", 23478), "links were replaced by files, or followed out of the repository", "a link inside is kept and its target edited; whatever leads outside or into `.git` is refused"),
    Report(28, "a", _issue(_AIDER, 3838), "in a package of a monorepo paths and commands were taken from the top", "the nearest `.agent/` upwards is the project: its folder is where checks run and what a step may change"),
    Report(29, "a", _issue("sourcegraph/src-cli", 371), "colours, external diffs or signatures from the user's config broke the parsing", "git runs with settings of our own; the person's hold only at the commit itself"),
    Report(31, "a", _pull("PostHog/code", 1361), "thousands of untracked files froze the program", "untracked folders are not looked into"),
    Report(32, "a", _issue("RyderFreeman4Logos/cli-sub-agent", 2556), "two agents in one checkout committed each other's files", "one lock for each work tree; the second caller ends with 75 and the holder's number"),
    Report(34, "a", _issue(_CLAUDE, 23942), "files named like devices could not be checked out on Windows", "such names are refused; what checks leave behind is no part of a step"),
    Report(35, "b", _issue(_AIDER, 2050), "of two equal places the wrong one was changed", "several matches are an error with their lines; nothing is written"),
    Report(37, "b", _issue(_CLINE, 9555), "a failed match left an empty file", "the file isn't touched, and the nearest real line is shown"),
    Report(38, "b", _issue(_CLINE, 4067), "edits that didn't come in the file's order failed", "each is matched against the whole file"),
    Report(40, "b", _pull("NousResearch/hermes-agent", 76394), "a mark of the patch format inside the text ended the patch", "texts come as JSON strings: nothing in them ends them"),
    Report(41, "b", _issue(_CLAUDE, 26996), "tabs were shown as spaces, so no edit of a Go file matched", "tabs are shown as tabs, and spaces in their place are named as the reason"),
    Report(43, "b", _issue(_CLAUDE, 60174), "an edit removed the byte order mark", "it stays, and a search on the first line finds it anyway"),
    Report(44, "b", _issue(_OPENCODE, 49600), "an edit of one line destroyed every accented letter of a Latin-1 file", "bytes that no edit names stay as they are"),
    Report(46, "b", _issue(_CLINE, 3183), "a comment in place of the rest of a file was written as the file", "a write with such a line, or that leaves a fragment, is refused"),
    Report(47, "b", _issue(_AIDER, 1113), "a file to be deleted was emptied, a renamed one stayed", "both are done by `rm` and `mv` and taken back by one revert"),
    Report(49, "b", _issue(_CLAUDE, 65575), "a formatter's change in between was overwritten, or made every edit fail", "an edit is applied to the file as it is now"),
    Report(50, "b", _issue(_AIDER, 4098), "an edit that was there already failed until the tool gave up", "it is said to be there; a step without any change becomes a question or a failure, never a loop"),
    Report(52, "b", _issue(_AIDER, 4517), "a fence inside a README ended the file and made files of commands", "files come only from paths"),
    Report(53, "c", _pull("rmusser01/tldw_chatbook", 1954), "a colon in a title made the YAML invalid, and the task vanished", "titles are plain Markdown; a head that can't be read names file, line and mend, and nothing is skipped"),
    Report(55, "c", _issue("woojubb/robota", 2298), "an apostrophe ended the quoted title early", "any title comes back, as one line"),
    Report(56, "c", _issue("MrLesk/Backlog.md", 516), "a price in a title was taken for a group of a pattern", "what people and models say is never a pattern, format or command"),
    Report(58, "c", _issue("yaml/pyyaml", 613), "`no` was read as false", "words are read as they are written; a word where a number belongs is named"),
    Report(59, "c", _issue("yaml/libyaml", 166), "the last of two equal keys won silently", "both lines are named; an id is a file's name, so there is no second one"),
    Report(61, "c", _pull("MrLesk/Backlog.md", 632), "two branches gave the same number to two tasks", "ids come from titles, those of proposed items carry a tail; one name with two texts is a conflict that git shows"),
    Report(62, "c", _issue("CCExtractor/ccsync", 308), "tasks that waited for each other were never chosen, and nobody said why", "circles and unknown names are told; nothing ready (6) and nothing left (3) differ"),
    Report(64, "c", _issue("eyaltoledano/claude-task-master", 806), "a save dropped fields that the tool didn't know", "a step writes no person's file; an edit changes the lines that it is about"),
    Report(65, "c", _issue("innolitics/n2y", 15), "a save dropped comments, sorted keys and folded lines", "as above"),
    Report(67, "c", _issue("MrLesk/Backlog.md", 990), "marks of sections inside a text nested at every save", "each step has a file of its own that nobody writes again; marks in a text are text"),
    Report(68, "c", _issue("eyaltoledano/claude-task-master", 1683), "a change was reported that the file didn't have", "what is said is read from the commit; a link in place of an item is refused"),
    Report(70, "d", _issue(_LITELLM, 8536), "a model without a price failed after its answer was there", "the cost is unknown, and stdout stays JSON", (_CLIENT,)),
    Report(71, "d", _issue(_LITELLM, 14849), "cached tokens were charged twice", "each token is charged once", (_CLIENT,)),
    Report(73, "d", _issue("OpenHands/OpenHands", 8149), "an overlong conversation came as a plain refusal and ended the session", "it is known in each provider's words; the conversation is shortened once, its task and last turns stay", ("model/test_model_errors.py", "worker/test_loop.py")),
    Report(74, "d", _issue(_CLINE, 13001), "arguments that were cut off were repaired and run", "nothing is repaired; a reply at its limit counts as cut off whatever the server says", (_CLIENT,)),
    Report(76, "d", _issue("raphaelmansuy/code2prompt", 23), "a file that named a special token stopped the tool", "it is text", ("model/test_tokens.py",)),
    Report(77, "d", _issue("openai/tiktoken", 15), "a million equal characters broke the tokenizer", "long texts are estimated", ("model/test_tokens.py",)),
    Report(79, "d", _issue(_AIDER, 1263), "an error message showed the key", "notes, messages and errors pass a filter that knows the keys and their shapes", ("model/test_redact.py",)),
    Report(80, "d", _issue("OpenHands/OpenHands", 7960), "the same two commands ran for hours", "equal calls with equal results, and rounds of them, are seen: the model is told once, then the attempt ends; the note says what was tried", ("worker/test_circles.py",)),
    Report(82, "d", _issue("reddb-io/red-skills", 1545), "a claim to be done was believed without a change", "it is written down as a claim; the item stays open"),
    Report(83, "d", _pull("HenryLach/taskplane", 310), "an agent ticked off the list and changed no source", "`.agent/` is written by agentctl alone"),
    Report(85, "d", _issue(_CLAUDE, 319), "failing tests were rewritten, or the command replaced", "commands come from the commit before the step; tests themselves are files like others, for the reviewer to see"),
    Report(86, "d", _pull("NousResearch/hermes-agent", 71227), "a run without a test counted as passed", "it is red; a program that is missing is told before any model call"),
    Report(88, "d", _pull("langchain-ai/deepagents", 1767), "a command waited for an answer until its time was up", "there is no input and no terminal"),
    Report(89, "d", _issue("google-gemini/gemini-cli", 13590), "git opened a pager and waited", "no pager is opened, on a terminal neither"),
    Report(91, "d", _issue("berabuddies/agentflow", 41), "after a timeout the command's children lived on", "all that it started ends with it; what was said is kept"),
    Report(92, "d", _issue(_CLAUDE, 23540), "a progress bar filled the conversation", "what a person would have seen is kept, within a limit"),
    Report(94, "d", _issue(_AIDER, 3613), "thoughts and chatter landed in commit messages", "subject and trailers are ours; the rest is the note's first paragraph, without trailers that it brings"),
    Report(95, "d", _issue("SWE-agent/SWE-agent", 681), "a limit that was met at the wrong moment lost everything", "a limit ends a step as any other end: put back, kept, noted"),
    Report(97, "d", _issue("agrimsingh/ralph-wiggum-cursor", 15), "a misspelt model ran for hours and did nothing", "the step ends at once with the provider's words, and changes nothing", ("model/test_model_errors.py",)),
    Report(98, "e", _issue(_AIDER, 513), "undo took uncommitted work with it", "undo touches only the step's files, and refuses where one of them has work in it"),
    Report(100, "e", _issue("tj/git-extras", 688), "undo of the first commit failed with git's words", "it is refused in plain words, with what to do instead"),
    Report(101, "e", _issue(_OPENCODE, 32529), "undo of a turn without changes rewrote other files", "nothing to undo is said, and nothing touched"),
    Report(103, "e", _issue("Runfusion/Fusion", 1904), "after a revert the plan still said done", "the note goes with the code, so the item is open; the next session reads who took it back and why; a revert of code alone is told"),
    Report(104, "e", _issue("intersystems/git-source-control", 811), "a revert stopped half-way and left the repository so", "undo merges outside the work tree: a conflict changes nothing; notes of other steps never conflict"),
    Report(106, "e", _issue("BrianV1981/aim", 110), "endless notes were read from their oldest end, or blocked the tool", "the brief has a budget, keeps the newest and says what it left out"),
    Report(107, "e", _issue(_CLAUDE, 53821), "a crash left half a state file, read as an empty one", "memory is what is committed; a file that differs is named with the way back; a kill at any moment leaves it readable"),
    Report(109, "e", _issue("rjmurillo/ai-agents", 4312), "recorded commit ids were gone after a squash", "nothing depends on ids; all trailers of a squash are read"),
    Report(110, "e", _issue(_CLAUDE, 39859), "cleaning up with reset and stash wiped days of work", "changed tracked files are refused up front; what is put back is the step's own, kept under a ref before"),
    Report(112, "f", _issue(_LITELLM, 1434), "an import fetched a price list and waited", "commands without a model import nothing of it; nothing is fetched"),
    Report(113, "f", _issue("openai/tiktoken", 369), "counting tokens wanted a download", "the packaged tables are used, else an estimate", ("model/test_tokens.py",)),
    Report(115, "f", _issue(_AIDER, 1254), "on a read-only disk the program crashed over its history file", "reading works; a step says what it can't write to"),
    Report(116, "f", _issue("openai/codex", 16898), "a full disk emptied the file being written", "files are written beside and moved into place"),
    Report(118, "f", _issue(_AIDER, 1577), "without a home folder nothing worked", "none is needed, nor a user name"),
    Report(119, "f", _issue(_AIDER, 4504), "a folder that had vanished ended in a traceback", "it is said in a line"),
)  # fmt: skip
