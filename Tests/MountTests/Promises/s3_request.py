"""Sends one request to an S3 server, signed by its own code: IDENTITY SECRET METHOD URL [FILE].
A bucket that is there already counts as made: the server serves all tests of a run."""

import datetime, hashlib, hmac, sys, urllib.error, urllib.parse, urllib.request


def send(identity, secret, method, url, body=b""):
    parts, digest = urllib.parse.urlsplit(url), hashlib.sha256(body).hexdigest()
    time = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ")
    scope = time[:8] + "/us-east-1/s3/aws4_request"
    names = "host;x-amz-content-sha256;x-amz-date"
    canonical = "\n".join([method, parts.path, "", "host:" + parts.netloc,
        "x-amz-content-sha256:" + digest, "x-amz-date:" + time, "", names, digest])
    key = ("AWS4" + secret).encode()
    for word in scope.split("/"): key = hmac.new(key, word.encode(), "sha256").digest()
    text = "\n".join(["AWS4-HMAC-SHA256", time, scope, hashlib.sha256(canonical.encode()).hexdigest()])
    signature = hmac.new(key, text.encode(), "sha256").hexdigest()
    request = urllib.request.Request(url, data=body or None, method=method, headers={
        "x-amz-content-sha256": digest, "x-amz-date": time, "Authorization":
        f"AWS4-HMAC-SHA256 Credential={identity}/{scope}, SignedHeaders={names}, Signature={signature}"})
    return urllib.request.urlopen(request, timeout=30)


if __name__ == "__main__":
    identity, secret, method, url, *files = sys.argv[1:]
    try:
        send(identity, secret, method, url, open(files[0], "rb").read() if files else b"")
    except urllib.error.HTTPError as error:
        if not (method == "PUT" and not files and error.code == 409): raise
