"""Chat components from npm, in pages of `npm/`: `python npm_app.py PORT NAME`. $NPM_ROOT is the folder of node_modules.

The pages ask `/answer`, which sends words, or whole answers to those who want them as JSON.
"""

import json
import os
import sys
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import chain
from pathlib import Path

from answers import stream

PAGE = Path(__file__).parent / "npm" / f"{sys.argv[2]}.html"


class Handler(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if self.path in ("/", "/favicon.ico"):
            self.reply(PAGE.read_bytes(), "text/html; charset=utf-8")
        else:
            super().do_GET()

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        given = json.loads(body) if body.startswith("{") else {}
        question = given.get("chatInput") or (given["messages"][-1]["text"] if "messages" in given else body)
        try:
            words = stream(question)
            first = next(words)
        except RuntimeError as error:
            self.reply(json.dumps({"error": str(error)}).encode(), "application/json", 500)
            return
        if "chatInput" in given:
            self.reply(json.dumps({"output": first + "".join(words)}).encode(), "application/json")
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream" if given else "text/plain; charset=utf-8")
        self.send_header("Connection", "close")
        self.end_headers()
        for word in chain([first], words):
            self.wfile.write(f"data: {json.dumps({'text': word})}\n\n".encode() if given else word.encode())
            self.wfile.flush()
        self.close_connection = True

    def reply(self, content, kind, status=200):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


os.chdir(os.environ["NPM_ROOT"])
ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
