"""Each threat of SECURITY.md with the tests that hold its defence, checked to be there."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

from support.rows import for_each

TESTS = Path(__file__).parents[1]
SECURITY = TESTS.parent / "SECURITY.md"

# Below tests/: a file, or file::name. A name ending in * stands for all that begin so.
THREATS: dict[str, tuple[str, ...]] = {
    "T-01": (
        "unit/test_scoring_injection.py::test_an_attack_only_gets_through_when_typed",
        "unit/test_scoring_injection.py::test_a_carrier_holds_the_text_in_every_client_format_and_no_turn_does",
        "unit/test_claude_code.py::test_tool_output_is_never_a_turn",
        "unit/test_codex.py::test_a_sub_agent_has_no_turns_though_its_file_replays_the_parent",
        "e2e/test_model.py::test_one_proposal_takes_these_requests",
    ),
    "T-02": (
        "security/test_provenance.py::test_t02_*",
        "unit/test_prompt.py::test_no_combination_of_texts_can_either",
        "security/test_forged_wrappers.py::test_no_word_of_the_content_counts_as_typed",
        "security/test_forged_examples.py::test_s1_*",
        "security/test_forged_examples.py::test_s6_*",
    ),
    "T-03": (
        "security/test_provenance.py::test_t03_*",
        "security/test_fuzz.py::test_fuzz_damaged",
        "e2e/test_model.py::test_an_invalid_answer_proposes_nothing_and_shows_in_status",
        "unit/test_reply.py::test_any_text_is_an_answer_or_a_refusal",
    ),
    "T-04": (
        "unit/test_offline_provenance.py::test_only_typed_text_is_kept",
        "unit/test_verify.py::test_an_update_that_fails_a_check_is_a_fault_with_the_reason",
    ),
    "T-05": ("security/test_provenance.py::test_t05_*",),
    "T-06": (
        "unit/test_lint_hidden.py::test_t06_*",
        "security/test_fuzz.py::test_fuzz_damaged",
        "unit/test_edit_properties.py::test_bytes_outside_the_edited_lines_never_change",
    ),
    "T-07": (
        "unit/test_lint_hidden.py::test_t07_*",
        "security/test_exhaustion.py::test_t07_*",
        "unit/test_exchange_incoming.py",
    ),
    "T-08": ("unit/test_lint_hidden.py::test_t08_*",),
    "T-09": ("unit/test_lint_hidden.py::test_t09_*",),
    "T-10": ("unit/test_lint_hidden.py::test_t10_*",),
    "T-11": ("unit/test_lint_hidden.py::test_t11_*",),
    "T-12": ("unit/test_lint_hidden.py::test_t12_*",),
    "T-13": (
        "unit/test_lint_danger.py::test_t13_*",
        "unit/test_lint_data.py::test_t13_*",
        "unit/test_lint_form.py::test_t13_*",
        "unit/test_lint_data.py::test_benign_look_alikes_are_never_refused",
    ),
    "T-14": ("unit/test_lint_danger.py::test_t14_*",),
    "T-15": ("unit/test_lint_hidden.py::test_t15_*",),
    "T-16": (
        "security/test_files.py::test_t16_*",
        "unit/test_lint_danger.py::test_t16_*",
        "unit/test_skills_find.py::test_an_invalid_skill_name_is_not_put_into_a_path",
        "unit/test_skills_find.py::test_a_path_outside_the_known_skill_folders_is_refused",
        "unit/test_git_tree.py::test_unsafe_paths_are_refused",
    ),
    "T-17": (
        "security/test_files.py::test_t17_*",
        "unit/test_skills_find.py::test_a_missing_working_folder_is_skipped",
    ),
    "T-18": ("security/test_files.py::test_t18_*",),
    "T-19": (
        "security/test_decisions.py::test_t19_*",
        "unit/test_skills_find.py::test_a_link_replacing_a_checked_file*",
        "unit/test_git_refs.py::test_a_ref_moves_only_from_its_expected_value",
        "unit/test_decide_accept.py::test_an_unready_work_tree_is_left_alone",
    ),
    "T-20": ("security/test_files.py::test_t20_*", "unit/test_tail.py::test_special_files_are_not_read"),
    "T-21": (
        "security/test_files.py::test_t21_*",
        "unit/test_paths.py::test_a_folder_open_to_other_users_is_refused_with_a_remedy",
        "unit/test_store.py::test_the_database_and_its_files_are_private_under_any_umask",
    ),
    "T-22": (
        "security/test_secrets.py::test_t22_*",
        "unit/test_redact_score.py::test_the_thresholds_hold_on_both_halves_of_the_development_file",
        "unit/test_store.py::test_no_words_of_a_turn_are_in_the_database",
        "unit/test_crash.py::test_a_crash_report_says_where_and_what_but_quotes_nobody",
    ),
    "T-23": (
        "security/test_sinks.py::test_t23_*",
        "unit/test_commands.py::test_nothing_from_outside_reaches_the_terminal_unescaped",
        "unit/test_text.py::test_control_and_hidden_characters_are_escaped",
    ),
    "T-24": (
        "security/test_decisions.py::test_t24_*",
        "unit/test_caller.py",
        "e2e/test_who_decides.py",
        "e2e/test_review.py::test_an_agent_may_not_open_the_review",
        "e2e/test_notices.py::test_the_reject_button_rejects_and_forged_presses_are_ignored",
    ),
    "T-25": (
        "security/test_sinks.py::test_t25_*",
        "e2e/test_notices.py::test_the_accept_button_accepts_in_git_in_the_persons_name",
        "e2e/test_notices.py::test_a_snoozed_notice_is_shown_after_the_snooze_with_quotes_if_enabled",
    ),
    "T-26": (
        "unit/test_git_canaries.py",
        "unit/test_git_run.py::test_scrubbing_removes_all_git_variables_and_gives_back_the_persons",
    ),
    "T-27": (
        "unit/test_git_run.py::test_an_unlisted_git_command_is_not_run",
        "unit/test_git_refs.py::test_ambiguous_ids_are_refused",
        "unit/test_propose_staging.py::test_names_with_a_meaning_in_git_are_handled",
    ),
    "T-28": (
        "unit/test_propose_message.py::test_no_text_forms_a_trailer*",
        "unit/test_propose_message.py::test_a_trailer_*",
    ),
    "T-29": (
        "security/test_network.py::test_t29_t30_*",
        "e2e/test_mcp.py::test_only_skills_are_listed_and_read",
        "e2e/test_mcp.py::test_agents_with_their_own_skills_are_shown_none",
    ),
    "T-30": ("security/test_network.py::test_t29_t30_*",),
    "T-31": (
        "security/test_network.py::test_t31_*",
        "security/test_network.py::test_t29_t30_t31_*",
        "unit/test_lock.py::test_no_compromised_release_is_locked",
        "unit/test_lock.py::test_no_locked_package_runs_code_at_python_startup",
    ),
    "T-32": (
        "security/test_network.py::test_t32_*",
        "unit/test_settings.py::test_no_file_in_the_current_folder_is_read",
        "unit/test_backend_choice.py::test_a_remote_ollama_is_never_contacted",
    ),
    "T-33": (
        "security/test_exhaustion.py::test_t33_*",
        "e2e/test_faults.py::test_a_20_mb_line_is_skipped_and_counted",
        "e2e/test_model.py::test_a_spent_budget_stops_the_calls_until_raised",
    ),
    "T-34": ("security/test_decisions.py::test_t34_*", "unit/test_lint_danger.py::test_t34_*", "unit/test_settings.py"),
    "T-35": ("unit/test_sync_block.py", "e2e/test_sync.py"),
    "T-36": (
        "unit/test_skills_landing.py",
        "unit/test_exchange_incoming.py",
        "unit/test_exchange_sources.py",
        "unit/test_exchange_share.py",
        "e2e/test_exchange.py::test_a_taken_name_is_refused_with_a_remedy",
        "e2e/test_exchange.py::test_a_skill_is_imported_as_a_flagged_proposal_and_active_once_accepted",
        "e2e/test_exchange.py::test_agents_cannot_import_or_share",
    ),
    "T-37": ("security/test_decisions.py::test_t37_*", "unit/test_past_decisions.py"),
    "T-38": ("security/test_sinks.py::test_t38_*",),
}


@cache
def names(file: str) -> frozenset[str]:
    """Return the names of the tests in a file below tests/; none where there is no such file."""
    path = TESTS / file
    if not path.is_file():
        return frozenset()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return frozenset(
        node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    )


def is_there(test: str) -> bool:
    """Whether `file`, `file::name` or `file::prefix*` names at least one test."""
    file, _, name = test.partition("::")
    if name.endswith("*"):
        return any(known.startswith(name[:-1]) for known in names(file))
    return name in names(file) if name else bool(names(file))


def rows() -> dict[str, str]:
    """Return the rows of SECURITY.md's table: id to defence."""
    text = SECURITY.read_text(encoding="utf-8")
    return dict(re.findall(r"^\| (T-\d\d) \|[^|]+\| (.+) \|$", text, re.MULTILINE))


def test_every_threat_has_a_row() -> None:
    wanted = [f"T-{number:02}" for number in range(1, 39)]
    assert list(THREATS) == wanted
    assert list(rows()) == wanted


@for_each("threat", THREATS)
def test_the_tests_of_a_threat_exist_or_it_does_not_apply(threat: str) -> None:
    assert [test for test in THREATS[threat] if not is_there(test)] == []
    assert THREATS[threat] or rows()[threat].startswith("does not apply")


def test_every_test_here_names_a_threat_of_the_table() -> None:
    for path in sorted(Path(__file__).parent.glob("test_*.py")):
        file = f"security/{path.name}"
        for name in names(file):
            for number in re.findall(r"(?<=_)t(\d\d)(?=_)", name):
                listed = [
                    test.partition("::")[2].rstrip("*") for test in THREATS[f"T-{number}"] if test.startswith(file)
                ]
                assert any(name.startswith(prefix) for prefix in listed), f"{name} is not in the row of T-{number}"


def test_a_missing_test_is_found() -> None:
    assert not is_there("unit/test_text.py::test_gone")
    assert not is_there("unit/test_gone.py")
    assert not is_there("security/test_files.py::test_t99_*")
    assert is_there("unit/test_text.py")


def test_the_page_says_what_is_not_promised_and_how_to_report() -> None:
    text = SECURITY.read_text(encoding="utf-8")
    assert len(text.splitlines()) < 200
    for heading in ("What is promised", "What is not promised", "How to report"):
        assert f"\n## {heading}\n" in text
    assert not re.search(r"[\w.]+@[\w-]+\.\w+", text), "no address is invented"
