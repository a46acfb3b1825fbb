"""A client of the Model Context Protocol, and tests of `stepscope-cli mcp` with it.

    mcp_client.py CLI TRACE [TESTS…]     TRACE: a Stepscope trace
"""
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
import unittest

CLI = TRACE = ""
PARSE, INVALID_REQUEST, UNKNOWN_METHOD, INVALID_PARAMETERS, BUSY = -32700, -32600, -32601, -32602, -32000


class Client:
    """One server process. Requests get numbers; answers may come in any order."""

    def __init__(self, *arguments, cwd=None):
        self.process = subprocess.Popen([CLI, "mcp", *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=cwd)
        self.notifications = []
        self._lines = queue.Queue()
        self._answers = {}
        self._number = 0
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self._lines.put(json.loads(line))
        self._lines.put(None)

    def raw(self, text):
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()

    def send(self, method, **parameters):
        self._number += 1
        self.raw(json.dumps({"jsonrpc": "2.0", "id": self._number, "method": method, "params": parameters}))
        return self._number

    def notify(self, method, **parameters):
        self.raw(json.dumps({"jsonrpc": "2.0", "method": method, "params": parameters}))

    def next(self, timeout=120):
        message = self._lines.get(timeout=timeout)
        assert message is not None, "the server has ended"
        assert message["jsonrpc"] == "2.0"
        return message

    def answer(self, number, timeout=120):
        while number not in self._answers:
            message = self.next(timeout)
            if "id" in message:
                self._answers[message["id"]] = message
            else:
                self.notifications.append(message)
        return self._answers.pop(number)

    def call(self, tool, _meta=None, **arguments):
        extra = {"_meta": _meta} if _meta else {}
        return self.answer(self.send("tools/call", name=tool, arguments=arguments, **extra))

    def result(self, tool, **arguments):
        """The JSON that a tool returns."""
        answer = self.call(tool, **arguments)
        result = answer["result"]
        assert not result["isError"], result
        return json.loads(result["content"][0]["text"])

    def close(self):
        self.process.stdin.close()
        status = self.process.wait(timeout=20)
        self.process.stdout.close()
        return status


def text_of(path):
    """Empty if there is no such file yet."""
    if not os.path.exists(path):
        return ""
    with open(path, encoding="utf-8") as file:
        return file.read().strip()


class McpTest(unittest.TestCase):
    def client(self, *arguments, cwd=None):
        client = Client(*arguments, cwd=cwd)
        self.addCleanup(lambda: client.process.poll() is None and client.close())
        return client

    def assert_error(self, answer, code, id=None):
        self.assertEqual(answer["error"]["code"], code, answer)
        self.assertNotIn("result", answer)
        if id:
            self.assertEqual(answer["error"]["data"]["id"], id)

    def test_negotiates_the_version_and_lists_the_tools(self):
        client = self.client()
        for wanted, got in (("2024-11-05", "2024-11-05"), ("1999-01-01", "2025-06-18")):
            answer = client.answer(client.send("initialize", protocolVersion=wanted, capabilities={}, clientInfo={"name": "t"}))
            self.assertEqual(answer["result"]["protocolVersion"], got)
            self.assertEqual(answer["result"]["serverInfo"]["name"], "stepscope")
            self.assertIn("tools", answer["result"]["capabilities"])
        client.notify("notifications/initialized")
        self.assertEqual(client.answer(client.send("ping"))["result"], {})
        tools = client.answer(client.send("tools/list"))["result"]["tools"]
        self.assertEqual([tool["name"] for tool in tools], ["summarize", "advise", "query", "diff", "lines", "patch"])
        for tool in tools:
            self.assertEqual(tool["inputSchema"]["type"], "object")
            self.assertTrue(tool["annotations"]["readOnlyHint"])
        self.assertEqual(client.close(), 0)

    def test_runs_programs_only_if_that_is_allowed(self):
        client = self.client()
        self.assert_error(client.call("record", command=["true"]), INVALID_PARAMETERS, "mcp.tool.not_allowed")
        client = self.client("--allow-run")
        names = [tool["name"] for tool in client.answer(client.send("tools/list"))["result"]["tools"]]
        self.assertEqual(names[-2:], ["record", "experiment"])

    def test_bad_input_is_a_json_rpc_error(self):
        client = self.client()
        for text, code in (
            ("not JSON", PARSE), ("[]", INVALID_REQUEST), ('{"id": 1, "method": "ping"}', INVALID_REQUEST),
            ('{"jsonrpc": "2.0", "id": 1}', INVALID_REQUEST), ('{"jsonrpc": "2.0", "id": {}, "method": "ping"}', INVALID_REQUEST),
            ('{"jsonrpc": "2.0", "id": 1, "method": 5}', INVALID_REQUEST),
            ('[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]', INVALID_REQUEST),
        ):
            client.raw(text)
            answer = client.next()
            self.assert_error(answer, code)
            self.assertIsNone(answer["id"], text)
        client.raw('{"jsonrpc": "2.0", "id": "a", "method": "ping", "params": [1]}')
        answer = client.next()
        self.assert_error(answer, INVALID_PARAMETERS)
        self.assertEqual(answer["id"], "a")
        client.raw('{"jsonrpc": "2.0", "id": 1, "method": "ping", "x": "' + "y" * (5 << 20) + '"}')
        self.assert_error(client.next(), INVALID_REQUEST, "mcp.line")
        client.raw("")
        client.raw('{"jsonrpc": "2.0", "method": "unknown/notification"}')
        self.assert_error(client.answer(client.send("resources/list")), UNKNOWN_METHOD)
        self.assertEqual(client.answer(client.send("ping"))["result"], {}, "the server goes on")

    def test_arguments_are_checked_against_the_schema(self):
        client = self.client()
        for tool, arguments, id in (
            ("no_such_tool", {}, "mcp.tool.unknown"), ("summarize", {}, "mcp.argument.missing"),
            ("summarize", {"trace": ""}, "mcp.argument.type"), ("summarize", {"trace": 5}, "mcp.argument.type"),
            ("summarize", {"trace": TRACE, "shell": "x"}, "mcp.argument.unknown"),
            ("query", {"trace": TRACE, "sql": "SELECT 1", "limit": 100000}, "mcp.argument.type"),
            ("patch", {"trace": TRACE, "set": "a=1"}, "mcp.argument.type"), ("patch", {"trace": TRACE, "set": [1]}, "mcp.argument.type"),
        ):
            self.assert_error(client.call(tool, **arguments), INVALID_PARAMETERS, id)
        answer = client.answer(client.send("tools/call", name="summarize", arguments=[]))
        self.assert_error(answer, INVALID_PARAMETERS, "mcp.arguments")

    def test_a_value_cannot_become_an_option(self):
        with tempfile.TemporaryDirectory() as folder:
            client = self.client(cwd=folder)
            answer = client.call("summarize", trace="--help")["result"]
            self.assertTrue(answer["isError"])
            self.assertIn("--help", answer["content"][0]["text"])
            self.assertNotIn("Usage", answer["content"][0]["text"])

    def test_tools_return_what_the_commands_print(self):
        client = self.client()
        for tool, words, arguments in (
            ("summarize", ["summarize", TRACE], {"trace": TRACE}), ("advise", ["advise", TRACE], {"trace": TRACE}),
            ("diff", ["diff", TRACE, TRACE], {"before": TRACE, "after": TRACE}), ("lines", ["lines", TRACE], {"trace": TRACE}),
        ):
            printed = subprocess.run([CLI, words[0], "--json", *words[1:]], capture_output=True, text=True)
            answer = client.call(tool, **arguments)["result"]
            if printed.returncode != 0:
                self.assertTrue(answer["isError"])
                self.assertEqual(answer["content"][0]["text"], printed.stderr)
                continue
            got = json.loads(answer["content"][0]["text"])
            self.assertLessEqual(len(answer["content"][0]["text"].encode()), 40_000)
            self.assertEqual(list(got)[: len(json.loads(printed.stdout))], list(json.loads(printed.stdout)), tool)
        rows = client.result("query", trace=TRACE, sql="SELECT COUNT(*) AS n FROM step")
        self.assertEqual(len(rows["rows"]), 1)
        wrong = client.call("query", trace=TRACE, sql="SELEKT")["result"]
        self.assertTrue(wrong["isError"])
        self.assertIn("tables", json.dumps(client.result("query", tables=True)))

    def test_long_results_are_shortened_and_say_so(self):
        client = self.client()
        sql = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT i, printf('%0500d', i) AS text FROM n"
        answer = client.call("query", trace=TRACE, sql=sql, limit=1000)["result"]
        text = answer["content"][0]["text"]
        self.assertFalse(answer["isError"], text[:500])
        self.assertLessEqual(len(text.encode()), 40_000)
        result = json.loads(text)
        self.assertEqual(result["omitted"]["/rows"] + len(result["rows"]), 1000)
        self.assertGreater(len(result["rows"]), 20)

    def test_a_program_is_recorded_and_its_output_stays_out_of_the_protocol(self):
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "steps.py")
            with open(program, "w", encoding="utf-8") as file:
                file.write("import stepscope, sys, time\nprint('{\"jsonrpc\": \"2.0\", \"id\": 1, \"result\": {}}', flush=True)\n"
                           "print('second line', file=sys.stderr, flush=True)\n"
                           "for i in range(5):\n    with stepscope.step():\n        time.sleep(0.01)\n")
            os.environ["PYTHONPATH"] = os.path.join(os.path.dirname(CLI), "..", "share", "stepscope", "python")
            self.addCleanup(os.environ.pop, "PYTHONPATH", None)
            client = self.client("--allow-run")
            answer = client.call("record", _meta={"progressToken": "p"}, command=[sys.executable, program], output="r.sstrace", folder=folder)
            result = json.loads(answer["result"]["content"][0]["text"])
            self.assertFalse(answer["result"]["isError"], result)
            self.assertEqual(result["exit_status"], 0)
            self.assertIn("second line", result["output"])
            progress = [note["params"] for note in client.notifications]
            self.assertIn("second line", [note["message"] for note in progress])
            self.assertEqual([note["progress"] for note in progress], list(range(1, len(progress) + 1)))
            trace = result["trace"] if os.path.isabs(result["trace"]) else os.path.join(folder, result["trace"])
            self.assertEqual(client.result("query", trace=trace, sql="SELECT COUNT(*) AS n FROM step")["rows"], [[5]])
            failed = client.call("record", command=["./no such program"], folder=folder)["result"]
            self.assertTrue(failed["isError"])

    def test_calls_wait_for_each_other_and_can_be_cancelled(self):
        with tempfile.TemporaryDirectory() as folder:
            client = self.client("--allow-run", cwd=folder)
            marker = os.path.join(folder, "started")
            running = client.send("tools/call", name="record", arguments={"command": ["sh", "-c", f"echo > {marker}; exec sleep 600"]})
            deadline = time.time() + 30
            while not os.path.exists(marker):
                self.assertLess(time.time(), deadline)
                time.sleep(0.02)
            waiting = [client.send("tools/call", name="query", arguments={"tables": True}) for _ in range(9)]
            self.assert_error(client.answer(waiting.pop()), BUSY, "mcp.busy")
            self.assertEqual(client.answer(client.send("ping"))["result"], {}, "answered at once")
            client.notify("notifications/cancelled", requestId=waiting.pop(0))
            client.notify("notifications/cancelled", requestId=running)
            for number in waiting:
                self.assertFalse(client.answer(number)["result"]["isError"])
            self.assertEqual(client._answers, {}, "cancelled requests get no answer")

    def test_the_end_of_the_input_ends_the_server_and_its_programs(self):
        with tempfile.TemporaryDirectory() as folder:
            client = self.client("--allow-run", cwd=folder)
            marker = os.path.join(folder, "pid")
            client.send("tools/call", name="record", arguments={"command": ["sh", "-c", f"echo $$ > {marker}; exec sleep 600"]})
            deadline = time.time() + 30
            while not (pid := text_of(marker)):
                self.assertLess(time.time(), deadline)
                time.sleep(0.02)
            self.assertEqual(client.close(), 0)
            with self.assertRaises(ProcessLookupError):
                os.kill(int(pid), 0)

    def test_calls_before_the_end_of_the_input_are_answered(self):
        calls = [{"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": "query", "arguments": {"tables": True}}}
                 for number in (1, 2)]
        ended = subprocess.run([CLI, "mcp"], input="".join(json.dumps(call) + "\n" for call in calls), capture_output=True,
                               text=True, timeout=60)
        answers = [json.loads(line) for line in ended.stdout.splitlines()]
        self.assertEqual([answer["id"] for answer in answers], [1, 2])
        self.assertFalse(any(answer["result"]["isError"] for answer in answers), answers)
        self.assertEqual(ended.returncode, 0)


if __name__ == "__main__":
    CLI, TRACE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
