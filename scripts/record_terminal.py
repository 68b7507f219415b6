"""Plays a short story in the chat on a pseudo-terminal, and draws its screens as one animated SVG. scripts/record-terminal starts it."""

import fcntl
import html
import os
import pty
import select
import struct
import sys
import tempfile
import termios
import time

import pyte

COLUMNS, ROWS = 96, 30
CELL, LINE, EDGE = 8.43, 18, 14
TIMEOUT = 60
COLOURS = {
    "default": "#d6deeb", "black": "#637777", "red": "#ef5350", "green": "#22da6e", "brown": "#ffca6b",
    "blue": "#82aaff", "magenta": "#c792ea", "cyan": "#21c7a8", "white": "#ffffff",
}


class Chat:
    def __init__(self, program, data):
        self.screen = pyte.Screen(COLUMNS, ROWS)
        self.stream = pyte.ByteStream(self.screen)
        self.frames = []
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            keep = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
            keep |= {"TERM": "xterm-256color", "PLANWRIGHT_DATA": data, "USER": "ada", "LC_ALL": "C.UTF-8"}
            os.chdir(data)
            os.execve(program, [program, "chat", "--session", "greeting", "--model", "rehearsal"], keep)
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))

    def read(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if select.select([self.terminal], [], [], 0.02)[0]:
                self.stream.feed(os.read(self.terminal, 65536))

    def sees(self, text):
        end = time.monotonic() + TIMEOUT
        while not any(text in row for row in self.screen.display):
            if time.monotonic() > end:
                sys.exit(f"{text!r} never came:\n" + "\n".join(self.screen.display))
            self.read(0.05)
        self.read(0.4)

    def shows(self, seconds):
        """Keeps the screen as it is now, to be shown for so long."""
        rows = [[self.screen.buffer[row][column] for column in range(COLUMNS)] for row in range(ROWS)]
        self.frames.append((rows, (self.screen.cursor.y, self.screen.cursor.x), seconds))

    def types(self, text):
        for end in range(0, len(text), 6):
            os.write(self.terminal, text[end:end + 6].encode())
            self.read(0.1)
            self.shows(0.25)

    def presses(self, key):
        os.write(self.terminal, key.encode())


def look(cell):
    colour = COLOURS.get(cell.fg, COLOURS["default"])
    return colour, cell.bold


def drawn(frame):
    rows, (cursor_row, cursor_column), _ = frame
    top, left = EDGE + cursor_row * LINE, EDGE + cursor_column * CELL
    parts = [f'<rect x="{left:.1f}" y="{top + 3}" width="{CELL:.1f}" height="{LINE - 2}" fill="#7e97ac" opacity=".7"/>']
    for number, row in enumerate(rows):
        column = 0
        while column < COLUMNS:
            end = column + 1
            while end < COLUMNS and look(row[end]) == look(row[column]):
                end += 1
            text = "".join(cell.data for cell in row[column:end])
            if text.strip():
                colour, bold = look(row[column])
                kept = text.rstrip()
                weight = ' style="font-weight:bold"' if bold else ""
                parts.append(
                    f'<text x="{EDGE + column * CELL:.1f}" y="{EDGE + number * LINE + 14}" fill="{colour}"{weight} '
                    f'textLength="{len(kept) * CELL:.1f}">{html.escape(kept)}</text>'
                )
            column = end
    return "".join(parts)


def animated(frames):
    whole = sum(seconds for _, _, seconds in frames)
    width, height = COLUMNS * CELL + 2 * EDGE, ROWS * LINE + 2 * EDGE
    styles, groups, begun = [], [], 0.0
    for number, frame in enumerate(frames):
        start, end = 100 * begun / whole, 100 * (begun + frame[2]) / whole
        begun += frame[2]
        hidden = f"0%,{start:.3f}%{{opacity:0}}" if number else ""
        styles.append(
            f"@keyframes f{number}{{{hidden}{start + 0.001 if number else 0:.3f}%,{end:.3f}%{{opacity:1}}"
            f"{min(end + 0.001, 100):.3f}%,100%{{opacity:{1 if number == len(frames) - 1 else 0}}}}}"
            f"#f{number}{{animation:f{number} {whole:.2f}s linear infinite;opacity:{1 if number == len(frames) - 1 else 0}}}"
        )
        groups.append(f'<g id="f{number}">{drawn(frame)}</g>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" role="img" '
        'aria-label="A plan is drafted in the terminal chat, approved with one key and carried out">'
        f'<style>text{{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;white-space:pre}}{"".join(styles)}</style>'
        f'<rect width="100%" height="100%" rx="8" fill="#011627"/>{"".join(groups)}</svg>\n'
    )


def main():
    program, picture = sys.argv[1:]
    with tempfile.TemporaryDirectory() as data:
        chat = Chat(program, data)
        chat.sees("write a message")
        chat.shows(1.5)
        chat.types("/plan mend the sample project")
        chat.presses("\r")
        chat.sees("a approve")
        chat.shows(6)
        chat.presses("a")
        chat.read(0.2)
        chat.shows(0.8)
        chat.sees("Which word")
        chat.sees("write a message")
        chat.shows(4)
        chat.types("3")
        chat.presses("\r")
        chat.sees("COMPLETED:")
        chat.sees("write a message")
        chat.shows(5)
        chat.presses("\x04")
        os.waitpid(chat.process, 0)
    with open(picture, "w", encoding="utf-8") as file:
        file.write(animated(chat.frames))


main()
