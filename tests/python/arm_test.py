"""Programs as arms of an experiment (stepscope/arm.py): this test plays the experiment.

Usage: arm_test.py STARTUP_FOLDER; run with the Python that has torch.
"""
import contextlib
import json
import math
import os
import queue
import signal
import socket
import subprocess
import sys
import threading
import time
import unittest
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
STACK_SIGNAL = signal.SIGRTMIN + 7
PATIENCE = 100  # seconds; a busy machine imports torch slowly


class Peer:
    """A process of the program."""

    def __init__(self, connection):
        connection.settimeout(PATIENCE)
        self.connection = connection
        self.lines = connection.makefile("r", encoding="utf-8")

    def read(self):
        line = self.lines.readline()
        return json.loads(line) if line else None

    def read_but_progress(self):
        record = self.read()
        while record and record["type"] == "progress":
            record = self.read()
        return record

    def send_turn(self, drop, count, what="steps"):
        turn = {"type": "turn", "what": what, "drop": drop, "count": count}
        self.connection.sendall((json.dumps(turn) + "\n").encode())

    def turn(self, drop, count, what="steps"):
        self.send_turn(drop, count, what)
        return self.read_but_progress()


class Program:
    def __init__(self, words, seed=None):
        name = "stepscope-test-" + uuid.uuid4().hex
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind("\0" + name)
        self._listener.listen(64)
        self._listener.settimeout(PATIENCE)
        variables = {
            **os.environ,
            "PYTHONPATH": sys.argv_of_test[0],
            "STEPSCOPE_ARM": name,
            "STEPSCOPE_ARM_STACK_SIGNAL": str(int(STACK_SIGNAL)),
        }
        if seed is not None:
            variables["STEPSCOPE_ARM_SEED"] = str(seed)
        self.process = subprocess.Popen(
            [sys.executable, *words], env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=HERE
        )
        self._peers = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        for peer in self._peers:
            with contextlib.suppress(OSError):  # the program or the test has closed it
                peer.connection.shutdown(socket.SHUT_RDWR)  # ends a read in another thread
            peer.lines.close()
            peer.connection.close()
        self._listener.close()
        self.process.stdout.close()
        self.process.wait()

    def stop_listening(self):
        self._listener.close()

    def peer(self):
        connection, _ = self._listener.accept()
        self._peers.append(Peer(connection))
        return self._peers[-1]

    def greeted(self):
        """The training process, and its hello."""
        peer = self.peer()
        started = peer.read()
        assert started["type"] == "started" and started["torch"], started
        return peer, peer.read()

    def greeted_ranks(self, count):
        """The training processes, by rank. A launcher connects as well, and never says hello."""
        greeted = queue.Queue()

        def listen(peer):
            peer.read()
            if hello := peer.read():
                greeted.put((hello, peer))

        def accept():
            while True:
                try:
                    peer = self.peer()
                except OSError:  # the test has ended
                    return
                threading.Thread(target=listen, args=(peer,), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        found = [greeted.get(timeout=PATIENCE) for _ in range(count)]
        return {hello["rank"]: (hello, peer) for hello, peer in found}


class ArmTest(unittest.TestCase):
    def test_a_program_trains_in_turns(self):
        with Program(["turns.py", "plain"], seed=1) as program:
            peer, hello = program.greeted()
            self.assertEqual(hello["type"], "hello")
            self.assertEqual((hello["rank"], hello["ranks"], hello["device"]), (0, 1, "cpu"))
            self.assertEqual(hello["loader"], {"batch_size": 4, "workers": 0, "prefetch": 0})
            self.assertEqual(hello["steps"], 1)
            turn = peer.turn(3, 25)
            self.assertEqual(turn["type"], "turn")
            self.assertEqual((len(turn["ns"]), len(turn["losses"])), (25, 25))
            self.assertEqual(turn["samples"], 100, "a validation's samples are none of the training's")
            self.assertGreater(turn["peak_bytes"], 1 << 20)
            self.assertEqual(turn["peak_of"], "process")
            self.assertLess(sorted(turn["ns"])[-3], 80e6, "a validation of 100 ms is in no step")
            self.assertTrue(all(ns > 0 for ns in turn["ns"]))

    def test_validations_are_timed_between_steps(self):
        for kind in ("plain", "with gradients"):
            with Program(["turns.py", kind], seed=1) as program:
                peer, _ = program.greeted()
                self.assertEqual(len(peer.turn(0, 10)["ns"]), 10, "the next step is the last of its epoch, or near it")
                turn = peer.turn(0, 2, "validation")
                self.assertEqual((len(turn["ns"]), turn["losses"], turn["samples"]), (2, [], 80), kind)
                time.sleep(0.3)  # a wait does not belong to a validation
                again = peer.turn(0, 1, "validation")
                self.assertEqual((len(again["ns"]), again["samples"]), (1, 40))
                for ns in turn["ns"] + again["ns"]:
                    self.assertGreaterEqual(ns, 100e6, "five batches of 20 ms")
                self.assertGreater(again["steps"], turn["steps"])
                self.assertEqual(len(peer.turn(1, 3)["losses"]), 3, "and steps are as before")

    def test_a_wait_at_the_start_of_a_validation_is_not_in_it(self):
        with Program(["turns.py", "plain"], seed=1) as program:
            peer, hello = program.greeted()
            peer.turn(0, 10 - hello["steps"])  # its last step is that of the epoch
            time.sleep(3)
            (ns,) = peer.turn(0, 1, "validation")["ns"]
            self.assertGreaterEqual(ns, 100e6)
            self.assertLess(ns, 3e9)

    def test_a_smaller_last_batch_counts_as_what_it_is(self):
        with Program(["turns.py", "uneven"], seed=1) as program:
            peer, _ = program.greeted()
            self.assertEqual(peer.turn(0, 1, "validation")["samples"], 40, "batches of 16, 16 and 8")

    def test_epochs_are_timed_without_validations(self):
        for kind in ("slow steps", "workers"):
            with Program(["turns.py", kind], seed=1) as program:
                peer, _ = program.greeted()
                peer.turn(0, 10)
                turn = peer.turn(0, 2, "epoch")
                self.assertEqual((len(turn["ns"]), turn["losses"], turn["samples"]), (2, [], 80), kind)
                time.sleep(3)
                again = peer.turn(0, 1, "epoch")
                self.assertEqual((len(again["ns"]), again["samples"]), (1, 40))
                self.assertEqual(again["steps"] - turn["steps"], 10, "an epoch begins where the turn before it ended")
                for ns in turn["ns"] + again["ns"]:
                    self.assertGreaterEqual(ns, 200e6, "ten steps of 20 ms")
                    self.assertLess(ns, 2e9, "neither the validation of 2 s nor the wait")
                self.assertEqual(len(peer.turn(0, 3)["ns"]), 3)

    def test_progress_is_reported_within_a_long_turn(self):
        with Program(["turns.py", "slow steps"], seed=1) as program:
            peer, _ = program.greeted()
            peer.send_turn(0, 2, "epoch")
            progress = peer.read()
            self.assertEqual(progress["type"], "progress")
            self.assertGreaterEqual(progress["steps"], 1)

    def test_the_end_of_a_program_reports_the_validations_of_its_turn(self):
        with Program(["turns.py", "plain", "25"]) as program:
            peer, _ = program.greeted()
            peer.turn(0, 2)
            peer.send_turn(0, 5, "validation")
            done = peer.read_but_progress()
            self.assertEqual((done["type"], len(done["turn"]["ns"])), ("done", 2))
        with Program(["turns.py", "plain", "7"]) as program:
            peer, _ = program.greeted()
            peer.turn(0, 2)
            peer.send_turn(0, 1, "validation")
            self.assertIsNone(peer.read_but_progress()["turn"], "there was none")

    def test_a_wait_is_in_no_step_and_uses_no_processor(self):
        with Program(["turns.py", "plain"]) as program:
            peer, _ = program.greeted()
            peer.turn(0, 3)

            def ticks():
                with open(f"/proc/{program.process.pid}/stat") as file:
                    return sum(int(field) for field in file.read().rsplit(")", 1)[1].split()[11:13])

            time.sleep(0.3)  # OpenMP threads spin for a moment after their last work
            before = ticks()
            time.sleep(1.0)
            self.assertLessEqual(ticks() - before, 2)
            self.assertLess(sum(peer.turn(0, 2)["ns"]), 1e9)

    def test_one_seed_gives_both_arms_the_same_losses(self):
        losses = []
        for seed in (5, 5, 6):
            with Program(["turns.py", "plain"], seed=seed) as program:
                peer, hello = program.greeted()
                self.assertEqual(hello["seeded"], ["random", "torch"])
                losses.append(peer.turn(0, 15)["losses"])
        self.assertEqual(losses[0], losses[1])
        self.assertNotEqual(losses[0], losses[2])

    def test_a_seed_of_the_program_is_shifted_with_each_start(self):
        losses = []
        for seed in (None, 1, 2, 2):
            with Program(["turns.py", "seeded"], seed=seed) as program:
                peer, hello = program.greeted()
                self.assertEqual(hello["seeded"], [])
                losses.append(peer.turn(0, 5)["losses"])
        self.assertEqual(losses[0], losses[1], "the first start has the program's own seed")
        self.assertNotEqual(losses[1], losses[2])
        self.assertEqual(losses[2], losses[3])

    def test_only_numbers_are_shifted(self):
        def run(number, seed):
            program = ("import random, torch\n"
                       "def first(): return random.random(), float(torch.rand(1))\n"
                       f"random.seed({number}, version=2), torch.random.manual_seed(seed={number})\n"
                       "print(first())\n"
                       "random.seed(a='text', version=2), torch.manual_seed(-1)\n"
                       "print(first())\n")
            with Program(["-c", program], seed=seed) as started:
                peer = started.peer()
                peer.read()
                return [line for line in started.process.stdout if line.startswith("(")]

        numbers, others = run(3, 1)
        self.assertEqual(run(1, 3), [numbers, others])
        shifted, same = run(3, 2)
        self.assertNotEqual(shifted, numbers)
        self.assertEqual(same, others)

    def test_a_scaled_loss_is_reported_as_it_was_before(self):
        with Program(["turns.py", "scaled"], seed=1) as scaled, Program(["turns.py", "plain"], seed=1) as plain:
            with_scaler, without = (program.greeted()[0].turn(0, 1)["losses"] for program in (scaled, plain))
            self.assertTrue(math.isclose(with_scaler[0], without[0], rel_tol=1e-4), (with_scaler, without))

    def test_an_exception_is_reported_with_the_end_of_its_traceback(self):
        with Program(["turns.py", "raises"]) as program:
            peer, _ = program.greeted()
            peer.send_turn(0, 100)
            failed = peer.read_but_progress()
            self.assertEqual(failed["type"], "failed")
            self.assertEqual(failed["traceback"][-1], "ValueError: too large a rate")
            self.assertIn("turns.py", failed["traceback"][1])
            self.assertEqual(program.process.wait(PATIENCE), 1)

    def test_the_end_of_the_program_is_reported(self):
        with Program(["turns.py", "plain", "7"]) as program:
            peer, _ = program.greeted()
            peer.send_turn(0, 100)
            done = peer.read_but_progress()
            self.assertEqual((done["type"], done["steps"]), ("done", 6))
            self.assertEqual((len(done["turn"]["ns"]), len(done["turn"]["losses"])), (5, 5), "of the turn that it could not end")
            self.assertIsNone(peer.read())
            self.assertEqual(program.process.wait(PATIENCE), 0)

    def test_an_end_by_exit_closes_the_connection(self):
        with Program(["turns.py", "exits"]) as program:
            peer, _ = program.greeted()
            peer.send_turn(0, 100)
            self.assertIsNone(peer.read_but_progress())
            self.assertEqual(program.process.wait(PATIENCE), 3)

    def test_a_program_without_steps_says_no_hello(self):
        with Program(["turns.py", "without steps"]) as program:
            _, next_record = program.greeted()
            self.assertEqual(next_record, {"type": "done", "steps": 0, "turn": None})

    def test_marked_steps_are_turns(self):
        with Program(["turns.py", "marks"]) as program:
            peer, hello = program.greeted()
            self.assertEqual(hello["loader"]["batch_size"], 0)
            turn = peer.turn(1, 5)
            self.assertEqual((len(turn["ns"]), turn["losses"], turn["samples"]), (5, [], 5))
            self.assertTrue(all(1e6 <= ns for ns in turn["ns"]))

    def test_samples_of_a_program_without_a_loader_are_the_models_inputs(self):
        with Program(["turns.py", "own batches"]) as program:
            peer, hello = program.greeted()
            self.assertEqual(hello["loader"]["batch_size"], 6)
            self.assertEqual(peer.turn(1, 5)["samples"], 30)

    def test_the_program_exits_when_the_experiment_has_ended(self):
        with Program(["turns.py", "plain"]) as program:
            peer, _ = program.greeted()
            peer.lines.close()
            peer.connection.close()
            self.assertEqual(program.process.wait(PATIENCE), 0)

    def test_a_process_that_cannot_reach_the_experiment_exits(self):
        with Program(["turns.py", "plain"]) as program:
            program.stop_listening()  # long before the program has imported torch
            self.assertEqual(program.process.wait(PATIENCE), 3)
            self.assertIn("cannot connect to the experiment", program.process.stdout.read())

    def test_the_stack_of_a_hang_is_printed_on_request(self):
        with Program(["turns.py", "plain"]) as program:
            peer, _ = program.greeted()
            program.process.send_signal(STACK_SIGNAL)
            printed = ""
            while 'turns.py", line' not in printed:
                printed += program.process.stdout.readline()
            self.assertIn("most recent call first", printed)
            self.assertEqual(peer.turn(0, 1)["type"], "turn", "the program goes on")

    def test_ranks_take_their_turns_together(self):
        launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2", "turns.py", "ranks"]
        with Program(launcher) as program:
            ranks = program.greeted_ranks(2)
            self.assertEqual({rank: hello["ranks"] for rank, (hello, _) in ranks.items()}, {0: 2, 1: 2})
            peers = [peer for _, peer in ranks.values()]
            for drop, count in ((2, 5), (0, 8)):
                for peer in peers:
                    peer.send_turn(drop, count)
                for peer in peers:
                    self.assertEqual(len(peer.read_but_progress()["ns"]), count)

    def test_validations_of_all_ranks_or_of_the_first(self):
        for kind in ("all ranks validate", "the first rank validates", "the first rank validates without a barrier"):
            launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2", "turns.py", kind]
            with Program(launcher) as program:
                ranks = program.greeted_ranks(2)
                peers = [ranks[rank][1] for rank in (0, 1)]
                # Ends with the tenth step, before the validation, in which the other rank may wait for the first.
                for peer in peers:
                    peer.send_turn(0, 10 - ranks[0][0]["steps"])
                for peer in peers:
                    self.assertEqual(len(peer.read_but_progress()["ns"]), 9, kind)
                for count in (1, 2):
                    for peer in peers:
                        peer.send_turn(0, count, "validation")
                    first, other = self.validation_turns(peers)
                    self.assertEqual(len(first["ns"]), count, kind)
                    self.assertEqual(len(other["ns"]), count if kind.startswith("all") else 0, kind)
                    self.assertEqual(first["steps"], other["steps"], kind)
                    for ns in first["ns"]:
                        self.assertTrue(100e6 <= ns < 1e9, (kind, ns))
                for peer in peers:
                    peer.send_turn(1, 5)
                for peer in peers:
                    self.assertEqual(len(peer.read_but_progress()["ns"]), 5, kind)

    def validation_turns(self, peers):
        """Plays the experiment's part until all ranks have ended their turn."""
        while True:
            records = [peer.read_but_progress() for peer in peers]
            if all(record["type"] == "turn" for record in records):
                return records
            self.assertEqual([record["type"] for record in records], ["left", "left"])
            answer = "stop" if any(record["left"] <= 0 for record in records) else "continue"
            for peer in peers:
                peer.connection.sendall((json.dumps({"type": answer}) + "\n").encode())


if __name__ == "__main__":
    sys.argv_of_test = sys.argv[1:2]
    unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=2)
