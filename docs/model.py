"""A model for Tidemark, with nothing but Python itself.

    bot candles export --synthetic --market BTC-EUR --interval 1h --out candles.csv
    python3 model.py candles.csv > model.csv    # for bot backtest
    python3 model.py candles.csv --to http://127.0.0.1:8790/signal --secret model-secret    # the latest, to bot run
"""
import argparse
import base64
import csv
import datetime
import hashlib
import hmac
import json
import sys
import time
import urllib.request

HOUR, FAST, SLOW = 3600, 12, 48


def decide(closes):
    """The position after some closes: put your model here."""
    fast, slow = sum(closes[-FAST:]) / FAST, sum(closes[-SLOW:]) / SLOW
    return "long" if fast > slow else "flat"


def clock(seconds):
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def signals(rows):
    """A row for each close: what is decided then can be known then, not earlier."""
    closes = []
    for row in rows:
        closes.append(float(row["close"]))
        if len(closes) >= SLOW:
            known = clock(int(row["timestamp_ms"]) // 1000 + HOUR)
            yield {"time": known, "known_at": known, "market": "BTC-EUR", "position": decide(closes)}


def send(url, secret, signal):
    """Sends a signal as Standard Webhooks say. The same id counts once, so it may be sent again."""
    body = json.dumps(signal)
    name, stamp = f"{signal['market']} {signal['time']}", str(int(time.time()))
    key = base64.b64decode(secret.removeprefix("whsec_"))
    mac = hmac.new(key, f"{name}.{stamp}.{body}".encode(), hashlib.sha256).digest()
    request = urllib.request.Request(url, body.encode(), {
        "webhook-id": name, "webhook-timestamp": stamp, "webhook-signature": "v1," + base64.b64encode(mac).decode()})
    with urllib.request.urlopen(request, timeout=15) as answer:
        return answer.read().decode().strip()


parser = argparse.ArgumentParser()
parser.add_argument("candles")
parser.add_argument("--to")
parser.add_argument("--secret")
given = parser.parse_args()
with open(given.candles, newline="") as file:
    found = list(signals(csv.DictReader(file)))
if given.to:
    now = clock(time.time())  # live, this runs at once after the close
    with open(given.secret) as file:
        print(send(given.to, file.read().strip(), found[-1] | {"time": now, "known_at": now}))
else:
    out = csv.DictWriter(sys.stdout, ["time", "known_at", "market", "position"])
    out.writeheader()
    out.writerows(found)
