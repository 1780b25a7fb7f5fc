"""A plugin for the pytest of the compatibility kit: writes one JSON line per test, and leaves out tests nobody asked for.

KOINE_TCK_RECORD names the file to write; KOINE_TCK_ONLY, when set, a file with the JSON array of node ids to run. With
KOINE_TCK_SCENARIO the id of every message is repeated in its metadata: it names a scenario, and a gateway that owns the tasks gives
messages ids of its own.
"""

import functools
import importlib
import json
import os
import re

import pytest

TRANSPORTS = ("jsonrpc", "http_json", "grpc")
NAMED = {"jsonrpc": "jsonrpc", "rest": "http_json", "http_json": "http_json", "grpc": "grpc"}


CLIENTS = (("grpc_client", "GrpcClient"), ("http_json_client", "HttpJsonClient"), ("jsonrpc_client", "JsonRpcClient"))


def pytest_configure(config):
    if not os.environ.get("KOINE_TCK_SCENARIO"):
        return
    for module, name in CLIENTS:
        client = getattr(importlib.import_module(f"tck.transport.{module}"), name)
        for method in ("send_message", "send_streaming_message"):
            setattr(client, method, with_scenario(getattr(client, method)))


def with_scenario(send):
    @functools.wraps(send)
    def wrapped(self, message, **rest):
        metadata = {**message.get("metadata", {}), "scenario": message.get("messageId", "")}
        return send(self, {**message, "metadata": metadata}, **rest)

    return wrapped


def pytest_collection_modifyitems(config, items):
    path = os.environ.get("KOINE_TCK_ONLY")
    if not path:
        return
    with open(path, encoding="utf-8") as file:
        wanted = set(json.load(file))
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in wanted])
    items[:] = [item for item in items if item.nodeid in wanted]


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    outcome = outcome_of(report)
    # A test ends in its call; setup and teardown count only when something went wrong there.
    if report.when != "call" and outcome == "passed":
        return
    line = {"test": item.nodeid, "transport": transport_of(item), "outcome": outcome, "why": why(report)}
    with open(os.environ["KOINE_TCK_RECORD"], "a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def outcome_of(report):
    if report.skipped and hasattr(report, "wasxfail"):
        return "xfailed"
    return report.outcome


def why(report):
    if report.passed:
        return ""
    if report.skipped and isinstance(report.longrepr, tuple):
        return report.longrepr[2]
    return str(getattr(report, "wasxfail", "")) or report.longreprtext[-600:]


def transport_of(item):
    """Said by the run (0.3), by a parameter, by a marker, or by the name; a test of none of them is about the card or all."""
    told = item.config.getoption("--transports", default=None)
    if told:
        return NAMED.get(told, "any")
    parameter = getattr(item, "callspec", None) and item.callspec.params.get("transport")
    if parameter in TRANSPORTS:
        return parameter
    for transport in TRANSPORTS:
        if item.get_closest_marker(transport):
            return transport
    named = re.search(r"_(jsonrpc|rest|http_json|grpc)$", item.originalname or item.name)
    return NAMED[named[1]] if named else "any"
