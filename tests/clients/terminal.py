"""A shell on a terminal of its own. The person types into one, and every client is started in another."""

import os
import pty
import re
import signal
import threading
import time

# Runs each line, and keeps its output and its exit code in files.
LOOP = """n=0
while IFS= read -r line; do
  n=$((n + 1))
  ( eval "$line" ) > "$1.$n.out" 2>&1 < /dev/null
  echo $? > "$1.$n.tmp"
  mv "$1.$n.tmp" "$1.$n.code"
done
"""


GUESS = "let me in"


class Ended(Exception):
    pass


class Terminal:
    def __init__(self, folder, name, working_folder, environment):
        self.files = os.path.join(folder, name)
        self.lines = 0
        self.screen = ""
        self.lock = threading.Lock()
        program = self.files + ".sh"
        with open(program, "w") as file:
            file.write(LOOP)
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.chdir(working_folder)
            os.execvpe("sh", ["sh", program, self.files], environment)
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        while True:
            try:
                data = os.read(self.terminal, 4096)
            except OSError:
                return
            if not data:
                return
            with self.lock:
                self.screen += data.decode(errors="replace")

    def type_line(self, line):
        # A terminal takes lines of 4095 bytes at most.
        assert len(line) < 4000 and "\n" not in line, line
        self.lines += 1
        os.write(self.terminal, (line + "\n").encode())

    def answer(self, question, text):
        """Types a secret once the question for it is on the screen."""
        limit = time.monotonic() + 60
        while time.monotonic() < limit:
            with self.lock:
                at = self.screen.find(question)
                if at >= 0:
                    self.screen = self.screen[at + len(question) :]
                    break
            if os.path.exists(self.file("code")):
                raise Ended(f"{question!r} was not asked: {self.output()}")
            time.sleep(0.02)
        else:
            raise Ended(f"{question!r} was not asked within a minute: {self.output()}")
        os.write(self.terminal, (text + "\n").encode())

    def end(self, seconds=60):
        """The exit code and the output of the line that was typed last."""
        limit = time.monotonic() + seconds
        while not os.path.exists(self.file("code")):
            with self.lock:
                asked = re.search("Passphrase of .*: ", self.screen)
                if asked:
                    self.screen = self.screen[asked.end() :]
            if asked:
                # The terminal of an agent: it does not know the passphrase.
                os.write(self.terminal, (GUESS + "\n").encode())
            if time.monotonic() > limit:
                raise Ended(f"the command did not end within {seconds} seconds: {self.output()[-3000:]}")
            time.sleep(0.02)
        with open(self.file("code")) as file:
            return int(file.read()), self.output()

    def run(self, line, seconds=60):
        self.type_line(line)
        return self.end(seconds)

    def file(self, kind):
        return f"{self.files}.{self.lines}.{kind}"

    def output(self):
        try:
            with open(self.file("out"), errors="replace") as file:
                return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", file.read())
        except FileNotFoundError:
            return ""

    def close(self):
        for kind in (signal.SIGHUP, signal.SIGKILL):
            try:
                os.killpg(self.pid, kind)
            except ProcessLookupError:
                break
            time.sleep(0.1)
        try:
            os.waitpid(self.pid, os.WNOHANG)
            os.close(self.terminal)
        except (ChildProcessError, OSError):
            pass
