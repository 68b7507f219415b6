"""Takes every connection that is asked for with CONNECT, says with a certificate that it is telegram.test, and passes what comes on.

    proxy.py CERTIFICATE PORT
"""

import asyncio
import ssl
import sys


async def copy(reader, writer):
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()


def passing_on_to(port):
    async def connected(reader, writer):
        read, write = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(copy(reader, write), copy(read, writer))

    return connected


async def main(certificate, port):
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(certificate)
    telegram = await asyncio.start_server(passing_on_to(port), "127.0.0.1", 0, ssl=tls)
    pass_on = passing_on_to(telegram.sockets[0].getsockname()[1])

    async def proxied(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        await pass_on(reader, writer)

    proxy = await asyncio.start_server(proxied, "127.0.0.1", 0)
    print(proxy.sockets[0].getsockname()[1], flush=True)
    await proxy.serve_forever()


asyncio.run(main(sys.argv[1], int(sys.argv[2])))
