#!/bin/bash
# What a person does first with an installed Planwright. Runs in the root that a package was installed into, without a network:
#
#     try_package.sh RESULTS PLANWRIGHT...
#
# Each answer is a file in RESULTS; the exit code is 0 when every step succeeded. SERVE, if it is set, are the arguments that start the server.
set -u

results=$1
shift
planwright=("$@")
failed=0

step() {
    local name=$1
    shift
    if "$@" >"$results/$name" 2>"$results/$name.stderr" </dev/null; then
        echo ok >"$results/$name.status"
    else
        echo "exit code $?" >"$results/$name.status"
        failed=1
    fi
}

# An agent asks for the tools, and goes when it has them.
list_tools() {
    local answers=$results/tools
    {
        echo '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test-dist","version":"1"}}}'
        echo '{"jsonrpc":"2.0","method":"notifications/initialized"}'
        echo '{"jsonrpc":"2.0","id":2,"method":"tools/list"}'
        for _ in $(seq 1 600); do
            grep -q '"id":2' "$answers" && break
            sleep 0.1
        done
    } | "${planwright[@]}" mcp
}

# GET PATH [HEADER]: the whole response. There is no curl in a bare root.
get() {
    exec 3<>/dev/tcp/127.0.0.1/7717 || return 1
    printf 'GET %s HTTP/1.1\r\nHost: 127.0.0.1:7717\r\nConnection: close\r\n%s\r\n' "$1" "${2:+$2$'\r\n'}" >&3
    cat <&3
    exec 3<&-
}

serve() {
    "${planwright[@]}" ${SERVE:-serve --listen 127.0.0.1:7717} --json >"$results/server" 2>"$results/server.stderr" &
    local server=$! code=0
    for _ in $(seq 1 600); do
        grep -q '"address"' "$results/server" && break
        kill -0 "$server" 2>/dev/null || break
        sleep 0.1
    done
    get / >"$results/page" || code=1
    local script
    script=$(grep -ao '/assets/[^"]*\.js' "$results/page" | head -n 1)
    get "$script" >"$results/script" || code=1
    get /api/server "Authorization: Bearer ${PLANWRIGHT_TOKEN:-$("${planwright[@]}" token)}" >"$results/about" || code=1
    kill -TERM "$server"
    wait "$server" || code=1
    grep -aq '^HTTP/1.1 200' "$results/page" && grep -aq '^HTTP/1.1 200' "$results/script" || code=1
    return "$code"
}

step version "${planwright[@]}" --version
step tools list_tools
step demonstration "${planwright[@]}" demo
step dashboard serve
exit "$failed"
