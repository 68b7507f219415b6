// Made by `npm run types` from crates/surfaces/openapi.json. Do not edit.

export interface paths {
    "/api/acts/challenge": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ask for what a passkey signs to do something
         * @description Send the call that does it with the passkey's answer as `passkey`, within an hour. Nothing is decided by this.
         */
        post: {
            parameters: {
                query?: never;
                header?: {
                    /** @description A name for this request. Sent again with the same name, it is not carried out again and gets the same answer, for 24 hours. */
                    "Idempotency-Key"?: string;
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["ActToSign"];
                };
            };
            responses: {
                /** @description What to sign */
                200: {
                    headers: {
                        /** @description The answer is that of an earlier request with the same key */
                        "idempotent-replayed"?: "true";
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "approver": "ada",
                         *       "challenge": "n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg",
                         *       "act": {
                         *         "kind": "resume",
                         *         "subject": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
                         *         "digest": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
                         *       },
                         *       "at": "2026-03-01T12:03:00Z",
                         *       "nonce": "00ff",
                         *       "passkeys": []
                         *     }
                         */
                        "application/json": components["schemas"]["ActChallenge"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/approvers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the approvers */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The approvers, and the policy in force */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "approvers": [
                         *         {
                         *           "name": "ada",
                         *           "key": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                         *           "enrolledAt": "2026-03-01T12:01:00Z",
                         *           "passkeys": [
                         *             {
                         *               "id": "AQIDBA",
                         *               "label": "laptop",
                         *               "relyingParty": "localhost",
                         *               "origin": "http://localhost:7717",
                         *               "addedAt": "2026-03-01T12:02:00Z"
                         *             }
                         *           ]
                         *         }
                         *       ],
                         *       "require": "separate",
                         *       "rules": [],
                         *       "needs": [
                         *         {
                         *           "channel": "web",
                         *           "starts": "separate",
                         *           "promotes": "separate"
                         *         },
                         *         {
                         *           "channel": "mcp",
                         *           "starts": "verified",
                         *           "promotes": "verified"
                         *         }
                         *       ],
                         *       "remember": 900,
                         *       "changes": [
                         *         {
                         *           "at": "2026-03-01T12:03:00Z",
                         *           "what": "a browser was signed in with a link",
                         *           "by": "ada through cli",
                         *           "recognised": "at a terminal, not verified",
                         *           "weakens": false
                         *         }
                         *       ],
                         *       "presence": "browser"
                         *     }
                         */
                        "application/json": components["schemas"]["Approvers"];
                    };
                };
            };
        };
        put?: never;
        /**
         * Enrol the first approver
         * @description From outside of the agent's reach. An approver who is enrolled adds others with `planwright approver add`.
         */
        post: {
            parameters: {
                query?: never;
                header?: {
                    /** @description A name for this request. Sent again with the same name, it is not carried out again and gets the same answer, for 24 hours. */
                    "Idempotency-Key"?: string;
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["NewApprover"];
                };
            };
            responses: {
                /** @description The approver is enrolled */
                201: {
                    headers: {
                        /** @description The answer is that of an earlier request with the same key */
                        "idempotent-replayed"?: "true";
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "recoveryCode": "7QX2M-K4T9C-0HWVB-8ZRDE-3YNPA"
                         *     }
                         */
                        "application/json": components["schemas"]["EnrolledView"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/approvers/{name}/passkeys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Enrol a passkey
         * @description The approver confirms it with their passphrase.
         */
        post: {
            parameters: {
                query?: never;
                header?: {
                    /** @description A name for this request. Sent again with the same name, it is not carried out again and gets the same answer, for 24 hours. */
                    "Idempotency-Key"?: string;
                };
                path: {
                    name: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["NewPasskey"];
                };
            };
            responses: {
                /** @description It is enrolled */
                200: {
                    headers: {
                        /** @description The answer is that of an earlier request with the same key */
                        "idempotent-replayed"?: "true";
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "approvers": [
                         *         {
                         *           "name": "ada",
                         *           "key": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                         *           "enrolledAt": "2026-03-01T12:01:00Z",
                         *           "passkeys": [
                         *             {
                         *               "id": "AQIDBA",
                         *               "label": "laptop",
                         *               "relyingParty": "localhost",
                         *               "origin": "http://localhost:7717",
                         *               "addedAt": "2026-03-01T12:02:00Z"
                         *             }
                         *           ]
                         *         }
                         *       ],
                         *       "require": "separate",
                         *       "rules": [],
                         *       "needs": [
                         *         {
                         *           "channel": "web",
                         *           "starts": "separate",
                         *           "promotes": "separate"
                         *         },
                         *         {
                         *           "channel": "mcp",
                         *           "starts": "verified",
                         *           "promotes": "verified"
                         *         }
                         *       ],
                         *       "remember": 900,
                         *       "changes": [
                         *         {
                         *           "at": "2026-03-01T12:03:00Z",
                         *           "what": "a browser was signed in with a link",
                         *           "by": "ada through cli",
                         *           "recognised": "at a terminal, not verified",
                         *           "weakens": false
                         *         }
                         *       ],
                         *       "presence": "browser"
                         *     }
                         */
                        "application/json": components["schemas"]["Approvers"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/approvers/{name}/passkeys/{id}/remove": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Remove a passkey
         * @description What it signs counts no more.
         */
        post: {
            parameters: {
                query?: never;
                header?: {
                    /** @description A name for this request. Sent again with the same name, it is not carried out again and gets the same answer, for 24 hours. */
                    "Idempotency-Key"?: string;
                };
                path: {
                    id: string;
                    name: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["PasskeyRemoval"];
                };
            };
            responses: {
                /** @description It is removed */
                200: {
                    headers: {
                        /** @description The answer is that of an earlier request with the same key */
                        "idempotent-replayed"?: "true";
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "approvers": [
                         *         {
                         *           "name": "ada",
                         *           "key": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                         *           "enrolledAt": "2026-03-01T12:01:00Z",
                         *           "passkeys": [
                         *             {
                         *               "id": "AQIDBA",
                         *               "label": "laptop",
                         *               "relyingParty": "localhost",
                         *               "origin": "http://localhost:7717",
                         *               "addedAt": "2026-03-01T12:02:00Z"
                         *             }
                         *           ]
                         *         }
                         *       ],
                         *       "require": "separate",
                         *       "rules": [],
                         *       "needs": [
                         *         {
                         *           "channel": "web",
                         *           "starts": "separate",
                         *           "promotes": "separate"
                         *         },
                         *         {
                         *           "channel": "mcp",
                         *           "starts": "verified",
                         *           "promotes": "verified"
                         *         }
                         *       ],
                         *       "remember": 900,
                         *       "changes": [
                         *         {
                         *           "at": "2026-03-01T12:03:00Z",
                         *           "what": "a browser was signed in with a link",
                         *           "by": "ada through cli",
                         *           "recognised": "at a terminal, not verified",
                         *           "weakens": false
                         *         }
                         *       ],
                         *       "presence": "browser"
                         *     }
                         */
                        "application/json": components["schemas"]["Approvers"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/approvers/changes/seen": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Say that changes were seen
         * @description Only a person outside of the agent's reach has seen them.
         */
        post: {
            parameters: {
                query?: never;
                header?: {
                    /** @description A name for this request. Sent again with the same name, it is not carried out again and gets the same answer, for 24 hours. */
                    "Idempotency-Key"?: string;
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["SeenChanges"];
                };
            };
            responses: {
                /** @description They are not shown again */
                200: {
                    headers: {
                        /** @description The answer is that of an earlier request with the same key */
                        "idempotent-replayed"?: "true";
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "approvers": [
                         *         {
                         *           "name": "ada",
                         *           "key": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                         *           "enrolledAt": "2026-03-01T12:01:00Z",
                         *           "passkeys": [
                         *             {
                         *               "id": "AQIDBA",
                         *               "label": "laptop",
                         *               "relyingParty": "localhost",
                         *               "origin": "http://localhost:7717",
                         *               "addedAt": "2026-03-01T12:02:00Z"
                         *             }
                         *           ]
                         *         }
                         *       ],
                         *       "require": "separate",
                         *       "rules": [],
                         *       "needs": [
                         *         {
                         *           "channel": "web",
                         *           "starts": "separate",
                         *           "promotes": "separate"
                         *         },
                         *         {
                         *           "channel": "mcp",
                         *           "starts": "verified",
                         *           "promotes": "verified"
                         *         }
                         *       ],
                         *       "remember": 900,
                         *       "changes": [
                         *         {
                         *           "at": "2026-03-01T12:03:00Z",
                         *           "what": "a browser was signed in with a link",
                         *           "by": "ada through cli",
                         *           "recognised": "at a terminal, not verified",
                         *           "weakens": false
                         *         }
                         *       ],
                         *       "presence": "browser"
                         *     }
                         */
                        "application/json": components["schemas"]["Approvers"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/clients": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the browsers that are signed in
         * @description Programs that send the token are not among them.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The browsers */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "clients": [
                         *         {
                         *           "id": "5f0c1d2e3a4b5c6d7e8f9a0b",
                         *           "kind": "browser",
                         *           "name": "Firefox on Linux",
                         *           "createdAt": "2026-03-01T12:00:00Z",
                         *           "lastSeenAt": "2026-03-01T12:05:00Z",
                         *           "current": true
                         *         }
                         *       ]
                         *     }
                         */
                        "application/json": components["schemas"]["Clients"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/clients/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Sign a browser out
         * @description Its cookie is refused from now on, its WebSockets and streams end, and it gets no more pushes.
         */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description The id of the browser */
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description It is signed out */
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/commands": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the slash commands */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Every command that the server carries out */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "commands": [
                         *         {
                         *           "name": "/plan off",
                         *           "usage": "/plan off",
                         *           "help": "plan work off; the plan stays as it is",
                         *           "example": "/plan off",
                         *           "group": "Plan work"
                         *         }
                         *       ]
                         *     }
                         */
                        "application/json": components["schemas"]["Commands"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/goals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the goals of a session */
        get: {
            parameters: {
                query: {
                    /** @description The channel of the session; `web` if it is not said. */
                    channel?: "web" | "telegram" | "cli" | "mcp" | "acp" | "legacy";
                    sessionId: components["schemas"]["ConversationKey"];
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The goals */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "items": [
                         *         {
                         *           "id": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
                         *           "number": 1,
                         *           "title": "No open warnings",
                         *           "status": "active",
                         *           "note": null,
                         *           "addedAt": "2026-03-01T12:00:00Z",
                         *           "changedAt": "2026-03-01T12:00:00Z"
                         *         }
                         *       ]
                         *     }
                         */
                        "application/json": components["schemas"]["Goals"];
                    };
                };
            };
        };
        put?: never;
        /** Set a goal */
        post: {
            parameters: {
                query?: never;
                header?: {
                    /** @description A name for this request. Sent again with the same name, it is not carried out again and gets the same answer, for 24 hours. */
                    "Idempotency-Key"?: string;
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["NewGoal"];
                };
            };
            responses: {
                /** @description The goal */
                201: {
                    headers: {
                        /** @description The answer is that of an earlier request with the same key */
                        "idempotent-replayed"?: "true";
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "id": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
                         *       "number": 1,
                         *       "title": "No open warnings",
                         *       "status": "active",
                         *       "note": null,
                         *       "addedAt": "2026-03-01T12:00:00Z",
                         *       "changedAt": "2026-03-01T12:00:00Z"
                         *     }
                         */
                        "application/json": components["schemas"]["Goal"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/goals/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Look at a goal */
        get: {
            parameters: {
                query: {
                    /** @description The channel of the session; `web` if it is not said. */
                    channel?: "web" | "telegram" | "cli" | "mcp" | "acp" | "legacy";
                    sessionId: components["schemas"]["ConversationKey"];
                };
                header?: never;
                path: {
                    /** @description Its id or number */
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The goal */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "id": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
                         *       "number": 1,
                         *       "title": "No open warnings",
                         *       "status": "active",
                         *       "note": null,
                         *       "addedAt": "2026-03-01T12:00:00Z",
                         *       "changedAt": "2026-03-01T12:00:00Z"
                         *     }
                         */
                        "application/json": components["schemas"]["Goal"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /** Pause, resume, finish or cancel a goal */
        patch: {
            parameters: {
                query: {
                    /** @description The channel of the session; `web` if it is not said. */
                    channel?: "web" | "telegram" | "cli" | "mcp" | "acp" | "legacy";
                    sessionId: components["schemas"]["ConversationKey"];
                };
                header?: never;
                path: {
                    /** @description Its id or number */
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["GoalChange"];
                };
            };
            responses: {
                /** @description The goal */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "id": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
                         *       "number": 1,
                         *       "title": "No open warnings",
                         *       "status": "active",
                         *       "note": null,
                         *       "addedAt": "2026-03-01T12:00:00Z",
                         *       "changedAt": "2026-03-01T12:00:00Z"
                         *     }
                         */
                        "application/json": components["schemas"]["Goal"];
                    };
                };
            };
        };
        trace?: never;
    };
    "/api/inbox": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the decisions that wait for a person
         * @description First what agents ask: permission for a call, and questions; then runs that are paused or interrupted; then tools of MCP servers that no person has accepted.
         *     `limit` does not count these. Then plans to approve, steps to look at, steps with an unknown result, and paused
         *     executions; the one that changed last comes first.
         */
        get: {
            parameters: {
                query?: {
                    /** @description The `next` of the page before. */
                    after?: number;
                    limit?: number;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description A page of decisions */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "items": [
                         *         {
                         *           "id": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
                         *           "kind": "plan",
                         *           "sessionId": "k3yk3y8x",
                         *           "channel": "web",
                         *           "planId": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
                         *           "number": 1,
                         *           "title": "Move the blog to a new host",
                         *           "status": "READY",
                         *           "digest": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                         *           "since": "2026-03-01T12:04:00Z",
                         *           "situation": "It waits for your decision.",
                         *           "choices": [
                         *             "approve",
                         *             "revise",
                         *             "reject"
                         *           ],
                         *           "actions": [
                         *             {
                         *               "name": "approve",
                         *               "label": "Approve",
                         *               "command": "/plan approve 1"
                         *             },
                         *             {
                         *               "name": "revise",
                         *               "label": "Request changes",
                         *               "command": "/plan revise #1 WHAT TO CHANGE"
                         *             },
                         *             {
                         *               "name": "reject",
                         *               "label": "Reject",
                         *               "command": "/plan reject 1"
                         *             }
                         *           ],
                         *           "active": true
                         *         }
                         *       ],
                         *       "next": null
                         *     }
                         */
                        "application/json": components["schemas"]["Inbox"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/mcp-servers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the MCP servers whose tools the agent uses */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Every configured server */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "servers": [
                         *         {
                         *           "name": "files",
                         *           "reachedBy": "npx -y @modelcontextprotocol/server-filesystem /srv/notes",
                         *           "state": "not_accepted",
                         *           "connection": "connected",
                         *           "tools": 0,
                         *           "accepted": 0,
                         *           "digest": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                         *           "difference": "new `read_file`:\n    description: Reads a file.\n    arguments: {}\n    only reads (readOnlyHint): yes\n    may be repeated (idempotentHint): not said\n    destroys (destructiveHint): not said\n\n",
                         *           "since": "2026-03-01T12:04:00Z"
                         *         }
                         *       ]
                         *     }
                         */
                        "application/json": components["schemas"]["McpServers"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/mcp-servers/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Ask an MCP server what it offers now
         * @description Starts the server if it has to be started.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    name: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The server */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "name": "files",
                         *       "reachedBy": "npx -y @modelcontextprotocol/server-filesystem /srv/notes",
                         *       "state": "not_accepted",
                         *       "connection": "connected",
                         *       "tools": 0,
                         *       "accepted": 0,
                         *       "digest": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                         *       "difference": "new `read_file`:\n    description: Reads a file.\n    arguments: {}\n    only reads (readOnlyHint): yes\n    may be repeated (idempotentHint): not said\n    destroys (destructiveHint): not said\n\n",
                         *       "since": "2026-03-01T12:04:00Z"
                         *     }
                         */
                        "application/json": components["schemas"]["McpServer"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/mcp-servers/{name}/accept": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Accept the tools of an MCP server
         * @description Accepts exactly what the person was shown. From then on the agent is offered these tools.
         */
        post: {
            parameters: {
                query?: never;
                header?: {
                    /** @description A name for this request. Sent again with the same name, it is not carried out again and gets the same answer, for 24 hours. */
                    "Idempotency-Key"?: string;
                };
                path: {
                    name: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["ToolAcceptance"];
                };
            };
            responses: {
                /** @description The server */
                200: {
                    headers: {
                        /** @description The answer is that of an earlier request with the same key */
                        "idempotent-replayed"?: "true";
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "name": "files",
                         *       "reachedBy": "npx -y @modelcontextprotocol/server-filesystem /srv/notes",
                         *       "state": "not_accepted",
                         *       "connection": "connected",
                         *       "tools": 0,
                         *       "accepted": 0,
                         *       "digest": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                         *       "difference": "new `read_file`:\n    description: Reads a file.\n    arguments: {}\n    only reads (readOnlyHint): yes\n    may be repeated (idempotentHint): not said\n    destroys (destructiveHint): not said\n\n",
                         *       "since": "2026-03-01T12:04:00Z"
                         *     }
                         */
                        "application/json": components["schemas"]["McpServer"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/memory": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List or search what a session remembers
         * @description The memories of the session and the global ones. Those of other sessions are never among them.
         */
        get: {
            parameters: {
                query: {
                    /** @description The `next` of the page before, for lists. */
                    before?: number;
                    /** @description The channel of the session; `web` if it is not said. */
                    channel?: "web" | "telegram" | "cli" | "mcp" | "acp" | "legacy";
                    /** @description With `true` each item says how its score is made up. */
                    explain?: boolean;
                    limit?: number;
                    /** @description A question or a few words. Without it all memories are listed, the newest first. */
                    q?: string;
                    sessionId: components["schemas"]["ConversationKey"];
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The memories */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "items": [
                         *         {
                         *           "id": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
                         *           "scope": "session:web:k3yk3y8x",
                         *           "kind": "preference",
                         *           "content": "The person prefers tabs.",
                         *           "tags": [],
                         *           "source": {
                         *             "from": "person"
                         *           },
                         *           "author": {
                         *             "kind": "person",
                         *             "name": "person",
                         *             "through": "web"
                         *           },
                         *           "trust": "person",
                         *           "at": "2026-03-01T12:00:00Z",
                         *           "score": 1.1
                         *         }
                         *       ],
                         *       "next": null,
                         *       "canUndo": true
                         *     }
                         */
                        "application/json": components["schemas"]["Memories"];
                    };
                };
            };
        };
        put?: never;
        /** Save a memory */
        post: {
            parameters: {
                query?: never;
                header?: {
                    /** @description A name for this request. Sent again with the same name, it is not carried out again and gets the same answer, for 24 hours. */
                    "Idempotency-Key"?: string;
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["NewMemory"];
                };
            };
            responses: {
                /** @description The memory */
                201: {
                    headers: {
                        /** @description The answer is that of an earlier request with the same key */
                        "idempotent-replayed"?: "true";
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "id": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
                         *       "scope": "session:web:k3yk3y8x",
                         *       "kind": "preference",
                         *       "content": "The person prefers tabs.",
                         *       "tags": [],
                         *       "source": {
                         *         "from": "person"
                         *       },
                         *       "author": {
                         *         "kind": "person",
                         *         "name": "person",
                         *         "through": "web"
                         *       },
                         *       "trust": "person",
                         *       "at": "2026-03-01T12:00:00Z",
                         *       "score": 1.1
                         *     }
                         */
                        "application/json": components["schemas"]["Memory"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/memory/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Forget a memory
         * @description It is not found any more. `/memory undo` brings it back.
         */
        delete: {
            parameters: {
                query: {
                    /** @description The channel of the session; `web` if it is not said. */
                    channel?: "web" | "telegram" | "cli" | "mcp" | "acp" | "legacy";
                    sessionId: components["schemas"]["ConversationKey"];
                };
                header?: never;
                path: {
                    /** @description The id of the memory */
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description It is forgotten */
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/memory/{id}/promote": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Let every session read a memory
         * @description Makes a global copy. `/memory undo`, or deleting the copy, takes it back.
         */
        post: {
            parameters: {
                query: {
                    /** @description The channel of the session; `web` if it is not said. */
                    channel?: "web" | "telegram" | "cli" | "mcp" | "acp" | "legacy";
                    sessionId: components["schemas"]["ConversationKey"];
                };
                header?: {
                    /** @description A name for this request. Sent again with the same name, it is not carried out again and gets the same answer, for 24 hours. */
                    "Idempotency-Key"?: string;
                };
                path: {
                    /** @description The id of the memory */
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": components["schemas"]["Proof"];
                };
            };
            responses: {
                /** @description The global copy */
                201: {
                    headers: {
                        /** @description The answer is that of an earlier request with the same key */
                        "idempotent-replayed"?: "true";
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "id": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
                         *       "scope": "session:web:k3yk3y8x",
                         *       "kind": "preference",
                         *       "content": "The person prefers tabs.",
                         *       "tags": [],
                         *       "source": {
                         *         "from": "person"
                         *       },
                         *       "author": {
                         *         "kind": "person",
                         *         "name": "person",
                         *         "through": "web"
                         *       },
                         *       "trust": "person",
                         *       "at": "2026-03-01T12:00:00Z",
                         *       "score": 1.1
                         *     }
                         */
                        "application/json": components["schemas"]["Memory"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/memory/offers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List what rules offer to be remembered
         * @description Decisions of finished plans, resolved errors of the workbook and entries of the diary. None of it is remembered until it
         *     is accepted.
         */
        get: {
            parameters: {
                query: {
                    /** @description The channel of the session; `web` if it is not said. */
                    channel?: "web" | "telegram" | "cli" | "mcp" | "acp" | "legacy";
                    sessionId: components["schemas"]["ConversationKey"];
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The offers */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "items": [
                         *         {
                         *           "id": "offer-3f2a91c05b7d4e8890aa11bc",
                         *           "scope": "session:web:k3yk3y8x",
                         *           "kind": "decision",
                         *           "content": "We keep the old parser — the new one is slower.",
                         *           "source": {
                         *             "from": "plan"
                         *           },
                         *           "at": "2026-03-01T12:00:00Z"
                         *         }
                         *       ]
                         *     }
                         */
                        "application/json": components["schemas"]["MemoryOffers"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/memory/offers/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Decline what was offered
         * @description It is not offered again.
         */
        delete: {
            parameters: {
                query: {
                    /** @description The channel of the session; `web` if it is not said. */
                    channel?: "web" | "telegram" | "cli" | "mcp" | "acp" | "legacy";
                    sessionId: components["schemas"]["ConversationKey"];
                };
                header?: never;
                path: {
                    /** @description The id of the offer */
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description It is declined */
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/memory/offers/{id}/accept": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Remember what was offered
         * @description The memory has the id of the offer. `/memory undo` takes it back.
         */
        post: {
            parameters: {
                query: {
                    /** @description The channel of the session; `web` if it is not said. */
                    channel?: "web" | "telegram" | "cli" | "mcp" | "acp" | "legacy";
                    sessionId: components["schemas"]["ConversationKey"];
                };
                header?: {
                    /** @description A name for this request. Sent again with the same name, it is not carried out again and gets the same answer, for 24 hours. */
                    "Idempotency-Key"?: string;
                };
                path: {
                    /** @description The id of the offer */
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The memory */
                201: {
                    headers: {
                        /** @description The answer is that of an earlier request with the same key */
                        "idempotent-replayed"?: "true";
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "id": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
                         *       "scope": "session:web:k3yk3y8x",
                         *       "kind": "preference",
                         *       "content": "The person prefers tabs.",
                         *       "tags": [],
                         *       "source": {
                         *         "from": "person"
                         *       },
                         *       "author": {
                         *         "kind": "person",
                         *         "name": "person",
                         *         "through": "web"
                         *       },
                         *       "trust": "person",
                         *       "at": "2026-03-01T12:00:00Z",
                         *       "score": 1.1
                         *     }
                         */
                        "application/json": components["schemas"]["Memory"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notifications": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List messages that did not reach a person
         * @description The newest come first, at most 100. A message is tried again for one or two days, unless its target refused it. A message that was given up stays in the list for two
         *     weeks.
         */
        get: {
            parameters: {
                query: {
                    /** @description Only messages that did not reach a person are listed. */
                    undelivered: "true";
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Messages that did not reach a person */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "items": [
                         *         {
                         *           "id": "notify-webhook-webhook-plan-019ca6b1",
                         *           "channel": "webhook",
                         *           "happening": "waits",
                         *           "text": "Plan #3 waits for your decision: Move the blog",
                         *           "sinceAt": "2026-03-01T12:04:00Z",
                         *           "attempts": 3,
                         *           "lastError": "the webhook answered 503",
                         *           "givenUp": false,
                         *           "path": "/p/019ca6b1"
                         *         }
                         *       ]
                         *     }
                         */
                        "application/json": components["schemas"]["Notifications"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/permissions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Permit or refuse a call
         * @description Answers exactly the call with this digest. The first valid answer counts. `plan` permits the same call for the rest of
         *     the execution, `always` writes a rule.
         */
        post: {
            parameters: {
                query?: never;
                header?: {
                    /** @description A name for this request. Sent again with the same name, it is not carried out again and gets the same answer, for 24 hours. */
                    "Idempotency-Key"?: string;
                };
                path: {
                    /** @description The id of what the agent asks */
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["PermissionAnswer"];
                };
            };
            responses: {
                /** @description It is answered */
                200: {
                    headers: {
                        /** @description The answer is that of an earlier request with the same key */
                        "idempotent-replayed"?: "true";
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "id": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11-ask-1",
                         *       "sessionId": "k3yk3y8x",
                         *       "channel": "web",
                         *       "words": "Answered."
                         *     }
                         */
                        "application/json": components["schemas"]["Answered"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/plans": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the plans of a session */
        get: {
            parameters: {
                query: {
                    /** @description The `next` of the page before. */
                    before?: number;
                    /** @description The channel of the session; `web` if it is not said. */
                    channel?: "web" | "telegram" | "cli" | "mcp" | "acp" | "legacy";
                    limit?: number;
                    sessionId: components["schemas"]["ConversationKey"];
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description A page of plans */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "sessionId": "k3yk3y8x",
                         *       "channel": "web",
                         *       "planMode": {
                         *         "enabled": true,
                         *         "style": "document",
                         *         "activePlanId": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
                         *         "updatedAt": "2026-03-01T12:01:00Z"
                         *       },
                         *       "plans": [
                         *         {
                         *           "id": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
                         *           "number": 1,
                         *           "status": "READY",
                         *           "style": "document",
                         *           "title": "Move the blog to a new host",
                         *           "updatedAt": "2026-03-01T12:04:00Z"
                         *         }
                         *       ],
                         *       "next": null
                         *     }
                         */
                        "application/json": components["schemas"]["PlanList"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/plans/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show a plan
         * @description The answer has an `ETag` that changes whenever the answer does. With `version`, its text, steps and digest are those of an
         *     earlier version; everything else is as it is now.
         */
        get: {
            parameters: {
                query?: {
                    /** @description The channel of the session; `web` if it is not said. */
                    channel?: "web" | "telegram" | "cli" | "mcp" | "acp" | "legacy";
                    /** @description The session the plan belongs to. With it a plan can also be named by its number, or by a piece of its id. */
                    sessionId?: components["schemas"]["ConversationKey"];
                    /** @description An earlier version; the current one if it is not said. */
                    version?: number;
                };
                header?: {
                    /** @description The `ETag` of an earlier answer */
                    "If-None-Match"?: string;
                };
                path: {
                    /** @description The id of the plan or, with `sessionId`, its number or a piece of its id */
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The plan */
                200: {
                    headers: {
                        /** @description Changes whenever the answer does */
                        ETag?: string;
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "id": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
                         *       "sessionId": "k3yk3y8x",
                         *       "channel": "web",
                         *       "number": 1,
                         *       "status": "EXECUTING",
                         *       "style": "document",
                         *       "title": "Move the blog to a new host",
                         *       "digest": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                         *       "version": 1,
                         *       "markdown": "# Move the blog to a new host\n\n- [ ] copy the files\n",
                         *       "steps": [
                         *         {
                         *           "id": "s1",
                         *           "position": 1,
                         *           "description": "copy the files",
                         *           "status": "PENDING"
                         *         }
                         *       ],
                         *       "progress": {
                         *         "done": 0,
                         *         "total": 1,
                         *         "next": {
                         *           "step": 1,
                         *           "description": "copy the files"
                         *         }
                         *       },
                         *       "execution": null,
                         *       "supersedes": null,
                         *       "supersededBy": null,
                         *       "feedback": null,
                         *       "approval": null,
                         *       "endedBecause": null,
                         *       "createdAt": "2026-03-01T12:01:00Z",
                         *       "updatedAt": "2026-03-01T12:06:00Z",
                         *       "situation": "It is being carried out.",
                         *       "choices": [
                         *         "cancel"
                         *       ],
                         *       "actions": [
                         *         {
                         *           "name": "cancel",
                         *           "label": "Cancel the plan",
                         *           "command": "/plan cancel 1"
                         *         }
                         *       ]
                         *     }
                         */
                        "application/json": components["schemas"]["PlanView"];
                    };
                };
                /** @description It has not changed */
                304: {
                    headers: {
                        /** @description The same as before */
                        ETag?: string;
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/plans/{id}/approve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Approve a plan
         * @description Approves exactly the version with this digest, all of its steps or some, and carries it out. The work runs after the
         *     answer; the plan says how far it is. If the plan has changed, nothing is approved and the answer shows the new version.
         */
        post: {
            parameters: {
                query?: {
                    /** @description The channel of the session; `web` if it is not said. */
                    channel?: "web" | "telegram" | "cli" | "mcp" | "acp" | "legacy";
                    /** @description The session the plan belongs to. With it a plan can also be named by its number, or by a piece of its id. */
                    sessionId?: components["schemas"]["ConversationKey"];
                };
                header?: {
                    /** @description A name for this request. Sent again with the same name, it is not carried out again and gets the same answer, for 24 hours. */
                    "Idempotency-Key"?: string;
                };
                path: {
                    /** @description The id of the plan or, with `sessionId`, its number or a piece of its id */
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Approval"];
                };
            };
            responses: {
                /** @description It is approved */
                200: {
                    headers: {
                        /** @description The answer is that of an earlier request with the same key */
                        "idempotent-replayed"?: "true";
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "id": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
                         *       "sessionId": "k3yk3y8x",
                         *       "channel": "web",
                         *       "number": 1,
                         *       "status": "EXECUTING",
                         *       "style": "document",
                         *       "title": "Move the blog to a new host",
                         *       "digest": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                         *       "version": 1,
                         *       "markdown": "# Move the blog to a new host\n\n- [ ] copy the files\n",
                         *       "steps": [
                         *         {
                         *           "id": "s1",
                         *           "position": 1,
                         *           "description": "copy the files",
                         *           "status": "PENDING"
                         *         }
                         *       ],
                         *       "progress": {
                         *         "done": 0,
                         *         "total": 1,
                         *         "next": {
                         *           "step": 1,
                         *           "description": "copy the files"
                         *         }
                         *       },
                         *       "execution": null,
                         *       "supersedes": null,
                         *       "supersededBy": null,
                         *       "feedback": null,
                         *       "approval": null,
                         *       "endedBecause": null,
                         *       "createdAt": "2026-03-01T12:01:00Z",
                         *       "updatedAt": "2026-03-01T12:06:00Z",
                         *       "situation": "It is being carried out.",
                         *       "choices": [
                         *         "cancel"
                         *       ],
                         *       "actions": [
                         *         {
                         *           "name": "cancel",
                         *           "label": "Cancel the plan",
                         *           "command": "/plan cancel 1"
                         *         }
                         *       ]
                         *     }
                         */
                        "application/json": components["schemas"]["ApprovedPlanView"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/plans/{id}/approve/challenge": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ask for what a passkey signs to approve a plan
         * @description Repeat the call to `approve` with the passkey's answer as `passkey`. Nothing is decided by this.
         */
        post: {
            parameters: {
                query?: {
                    /** @description The channel of the session; `web` if it is not said. */
                    channel?: "web" | "telegram" | "cli" | "mcp" | "acp" | "legacy";
                    /** @description The session the plan belongs to. With it a plan can also be named by its number, or by a piece of its id. */
                    sessionId?: components["schemas"]["ConversationKey"];
                };
                header?: {
                    /** @description A name for this request. Sent again with the same name, it is not carried out again and gets the same answer, for 24 hours. */
                    "Idempotency-Key"?: string;
                };
                path: {
                    /** @description The id of the plan or, with `sessionId`, its number or a piece of its id */
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Approval"];
                };
            };
            responses: {
                /** @description What to sign */
                200: {
                    headers: {
                        /** @description The answer is that of an earlier request with the same key */
                        "idempotent-replayed"?: "true";
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "approver": "ada",
                         *       "challenge": "n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg",
                         *       "seq": 7,
                         *       "validUntil": null,
                         *       "nonce": "00ff",
                         *       "passkeys": []
                         *     }
                         */
                        "application/json": components["schemas"]["PasskeyChallenge"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/plans/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel a plan
         * @description Its execution is stopped.
         */
        post: {
            parameters: {
                query?: {
                    /** @description The channel of the session; `web` if it is not said. */
                    channel?: "web" | "telegram" | "cli" | "mcp" | "acp" | "legacy";
                    /** @description The session the plan belongs to. With it a plan can also be named by its number, or by a piece of its id. */
                    sessionId?: components["schemas"]["ConversationKey"];
                };
                header?: {
                    /** @description A name for this request. Sent again with the same name, it is not carried out again and gets the same answer, for 24 hours. */
                    "Idempotency-Key"?: string;
                };
                path: {
                    /** @description The id of the plan or, with `sessionId`, its number or a piece of its id */
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": components["schemas"]["Reason"];
                };
            };
            responses: {
                /** @description It is cancelled */
                200: {
                    headers: {
                        /** @description The answer is that of an earlier request with the same key */
                        "idempotent-replayed"?: "true";
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "id": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
                         *       "sessionId": "k3yk3y8x",
                         *       "channel": "web",
                         *       "number": 1,
                         *       "status": "EXECUTING",
                         *       "style": "document",
                         *       "title": "Move the blog to a new host",
                         *       "digest": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                         *       "version": 1,
                         *       "markdown": "# Move the blog to a new host\n\n- [ ] copy the files\n",
                         *       "steps": [
                         *         {
                         *           "id": "s1",
                         *           "position": 1,
                         *           "description": "copy the files",
                         *           "status": "PENDING"
                         *         }
                         *       ],
                         *       "progress": {
                         *         "done": 0,
                         *         "total": 1,
                         *         "next": {
                         *           "step": 1,
                         *           "description": "copy the files"
                         *         }
                         *       },
                         *       "execution": null,
                         *       "supersedes": null,
                         *       "supersededBy": null,
                         *       "feedback": null,
                         *       "approval": null,
                         *       "endedBecause": null,
                         *       "createdAt": "2026-03-01T12:01:00Z",
                         *       "updatedAt": "2026-03-01T12:06:00Z",
                         *       "situation": "It is being carried out.",
                         *       "choices": [
                         *         "cancel"
                         *       ],
                         *       "actions": [
                         *         {
                         *           "name": "cancel",
                         *           "label": "Cancel the plan",
                         *           "command": "/plan cancel 1"
                         *         }
                         *       ]
                         *     }
                         */
                        "application/json": components["schemas"]["PlanView"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/plans/{id}/changes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show what a plan changed in files
         * @description A unified diff for each file, of the plan and of its steps. What was put back is not among them.
         */
        get: {
            parameters: {
                query?: {
                    /** @description The channel of the session; `web` if it is not said. */
                    channel?: "web" | "telegram" | "cli" | "mcp" | "acp" | "legacy";
                    /** @description The session the plan belongs to. */
                    sessionId?: components["schemas"]["ConversationKey"];
                    /** @description Only what this step changed, from 1. */
                    step?: number;
                };
                header?: never;
                path: {
                    /** @description The id of the plan or, with `sessionId`, its number or a piece of its id */
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description What it changed */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "planId": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
                         *       "sessionId": "k3yk3y8x",
                         *       "channel": "web",
                         *       "number": 1,
                         *       "step": null,
                         *       "files": [
                         *         {
                         *           "workspace": "/home/ada/till",
                         *           "path": "src/main.rs",
                         *           "diff": "diff --git a/src/main.rs b/src/main.rs\n--- a/src/main.rs\n+++ b/src/main.rs\n@@ -1 +1 @@\n-fn main() {}\n+fn main() { run() }\n",
                         *           "addedLines": 1,
                         *           "removedLines": 1,
                         *           "truncated": false
                         *         }
                         *       ],
                         *       "steps": [
                         *         {
                         *           "step": 1,
                         *           "stepId": "s1",
                         *           "description": "call run",
                         *           "files": [
                         *             {
                         *               "workspace": "/home/ada/till",
                         *               "path": "src/main.rs",
                         *               "diff": "diff --git a/src/main.rs b/src/main.rs\n--- a/src/main.rs\n+++ b/src/main.rs\n@@ -1 +1 @@\n-fn main() {}\n+fn main() { run() }\n",
                         *               "addedLines": 1,
                         *               "removedLines": 1,
                         *               "truncated": false
                         *             }
                         *           ]
                         *         }
                         *       ],
                         *       "uncovered": {
                         *         "added": [],
                         *         "changed": [],
                         *         "removed": [],
                         *         "complete": true
                         *       },
                         *       "undone": []
                         *     }
                         */
                        "application/json": components["schemas"]["PlanChangesView"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/plans/{id}/diff": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Compare two versions of a plan
         * @description The last two by default. A plan with one version is compared with the one it replaced.
         */
        get: {
            parameters: {
                query?: {
                    /** @description The channel of the session; `web` if it is not said. */
                    channel?: "web" | "telegram" | "cli" | "mcp" | "acp" | "legacy";
                    /** @description The older version; the one before `to` if it is not said. 0 is a plan with nothing in it. */
                    from?: number;
                    /** @description The session the plan belongs to. */
                    sessionId?: components["schemas"]["ConversationKey"];
                    /** @description The newer version; the last one if it is not said. */
                    to?: number;
                };
                header?: never;
                path: {
                    /** @description The id of the plan or, with `sessionId`, its number or a piece of its id */
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description What changed */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "changes": [
                         *         {
                         *           "kind": "stepAdded",
                         *           "position": 1,
                         *           "description": "copy the files"
                         *         }
                         *       ],
                         *       "lines": [
                         *         {
                         *           "mark": "added",
                         *           "to": 1,
                         *           "pieces": [
                         *             {
                         *               "text": "- [ ] copy the files"
                         *             }
                         *           ]
                         *         }
                         *       ]
                         *     }
                         */
                        "application/json": components["schemas"]["PlanDiff"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/plans/{id}/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show the history of a plan
         * @description Every version, decision and execution.
         */
        get: {
            parameters: {
                query?: {
                    /** @description The channel of the session; `web` if it is not said. */
                    channel?: "web" | "telegram" | "cli" | "mcp" | "acp" | "legacy";
                    /** @description The session the plan belongs to. With it a plan can also be named by its number, or by a piece of its id. */
                    sessionId?: components["schemas"]["ConversationKey"];
                };
                header?: never;
                path: {
                    /** @description The id of the plan or, with `sessionId`, its number or a piece of its id */
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Its history */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "planId": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
                         *       "sessionId": "k3yk3y8x",
                         *       "channel": "web",
                         *       "number": 1,
                         *       "versions": [
                         *         {
                         *           "version": 1,
                         *           "at": "2026-03-01T12:04:00Z",
                         *           "by": {
                         *             "kind": "agent",
                         *             "name": "rehearsal",
                         *             "through": "web"
                         *           },
                         *           "digest": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                         *           "title": null
                         *         }
                         *       ],
                         *       "decisions": [],
                         *       "executions": []
                         *     }
                         */
                        "application/json": components["schemas"]["PlanHistory"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/plans/{id}/markdown": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a plan as one text */
        get: {
            parameters: {
                query?: {
                    /** @description The channel of the session; `web` if it is not said. */
                    channel?: "web" | "telegram" | "cli" | "mcp" | "acp" | "legacy";
                    /** @description The session the plan belongs to. With it a plan can also be named by its number, or by a piece of its id. */
                    sessionId?: components["schemas"]["ConversationKey"];
                };
                header?: never;
                path: {
                    /** @description The id of the plan or, with `sessionId`, its number or a piece of its id */
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description What a person approves */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example # Move the blog to a new host
                         *
                         *     - [ ] copy the files
                         */
                        "text/markdown": string;
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/plans/{id}/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Preview what a plan would do to files
         * @description What the recorded calls of a collected plan would change, against the files as they are now, each step after the steps before
         *     it. Nothing is changed. Plans of other styles have no such steps.
         */
        get: {
            parameters: {
                query?: {
                    /** @description The channel of the session; `web` if it is not said. */
                    channel?: "web" | "telegram" | "cli" | "mcp" | "acp" | "legacy";
                    /** @description The session the plan belongs to. With it a plan can also be named by its number, or by a piece of its id. */
                    sessionId?: components["schemas"]["ConversationKey"];
                };
                header?: never;
                path: {
                    /** @description The id of the plan or, with `sessionId`, its number or a piece of its id */
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The steps that change files */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "steps": [
                         *         {
                         *           "stepId": "s1",
                         *           "step": 1,
                         *           "tool": "edit_file",
                         *           "path": "src/main.rs",
                         *           "before": "fn main() {}\n",
                         *           "after": "fn main() { run() }\n",
                         *           "existsBefore": true,
                         *           "existsAfter": true
                         *         }
                         *       ]
                         *     }
                         */
                        "application/json": components["schemas"]["PlanPreview"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/plans/{id}/reject": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Reject a plan */
        post: {
            parameters: {
                query?: {
                    /** @description The channel of the session; `web` if it is not said. */
                    channel?: "web" | "telegram" | "cli" | "mcp" | "acp" | "legacy";
                    /** @description The session the plan belongs to. With it a plan can also be named by its number, or by a piece of its id. */
                    sessionId?: components["schemas"]["ConversationKey"];
                };
                header?: {
                    /** @description A name for this request. Sent again with the same name, it is not carried out again and gets the same answer, for 24 hours. */
                    "Idempotency-Key"?: string;
                };
                path: {
                    /** @description The id of the plan or, with `sessionId`, its number or a piece of its id */
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": components["schemas"]["Reason"];
                };
            };
            responses: {
                /** @description It is rejected */
                200: {
                    headers: {
                        /** @description The answer is that of an earlier request with the same key */
                        "idempotent-replayed"?: "true";
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "id": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
                         *       "sessionId": "k3yk3y8x",
                         *       "channel": "web",
                         *       "number": 1,
                         *       "status": "EXECUTING",
                         *       "style": "document",
                         *       "title": "Move the blog to a new host",
                         *       "digest": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                         *       "version": 1,
                         *       "markdown": "# Move the blog to a new host\n\n- [ ] copy the files\n",
                         *       "steps": [
                         *         {
                         *           "id": "s1",
                         *           "position": 1,
                         *           "description": "copy the files",
                         *           "status": "PENDING"
                         *         }
                         *       ],
                         *       "progress": {
                         *         "done": 0,
                         *         "total": 1,
                         *         "next": {
                         *           "step": 1,
                         *           "description": "copy the files"
                         *         }
                         *       },
                         *       "execution": null,
                         *       "supersedes": null,
                         *       "supersededBy": null,
                         *       "feedback": null,
                         *       "approval": null,
                         *       "endedBecause": null,
                         *       "createdAt": "2026-03-01T12:01:00Z",
                         *       "updatedAt": "2026-03-01T12:06:00Z",
                         *       "situation": "It is being carried out.",
                         *       "choices": [
                         *         "cancel"
                         *       ],
                         *       "actions": [
                         *         {
                         *           "name": "cancel",
                         *           "label": "Cancel the plan",
                         *           "command": "/plan cancel 1"
                         *         }
                         *       ]
                         *     }
                         */
                        "application/json": components["schemas"]["PlanView"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/plans/{id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resume a plan
         * @description Continues with the first step that is not done. If the result of a step is unknown, `choice` decides about it. If the plan
         *     is approved step by step, exactly one step is released; `choice: "stop"` ends the execution. The work runs after the
         *     answer.
         */
        post: {
            parameters: {
                query?: {
                    /** @description The channel of the session; `web` if it is not said. */
                    channel?: "web" | "telegram" | "cli" | "mcp" | "acp" | "legacy";
                    /** @description The session the plan belongs to. With it a plan can also be named by its number, or by a piece of its id. */
                    sessionId?: components["schemas"]["ConversationKey"];
                };
                header?: {
                    /** @description A name for this request. Sent again with the same name, it is not carried out again and gets the same answer, for 24 hours. */
                    "Idempotency-Key"?: string;
                };
                path: {
                    /** @description The id of the plan or, with `sessionId`, its number or a piece of its id */
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": components["schemas"]["Resuming"];
                };
            };
            responses: {
                /** @description The plan is executing, or has ended */
                200: {
                    headers: {
                        /** @description The answer is that of an earlier request with the same key */
                        "idempotent-replayed"?: "true";
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "id": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
                         *       "sessionId": "k3yk3y8x",
                         *       "channel": "web",
                         *       "number": 1,
                         *       "status": "EXECUTING",
                         *       "style": "document",
                         *       "title": "Move the blog to a new host",
                         *       "digest": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                         *       "version": 1,
                         *       "markdown": "# Move the blog to a new host\n\n- [ ] copy the files\n",
                         *       "steps": [
                         *         {
                         *           "id": "s1",
                         *           "position": 1,
                         *           "description": "copy the files",
                         *           "status": "PENDING"
                         *         }
                         *       ],
                         *       "progress": {
                         *         "done": 0,
                         *         "total": 1,
                         *         "next": {
                         *           "step": 1,
                         *           "description": "copy the files"
                         *         }
                         *       },
                         *       "execution": null,
                         *       "supersedes": null,
                         *       "supersededBy": null,
                         *       "feedback": null,
                         *       "approval": null,
                         *       "endedBecause": null,
                         *       "createdAt": "2026-03-01T12:01:00Z",
                         *       "updatedAt": "2026-03-01T12:06:00Z",
                         *       "situation": "It is being carried out.",
                         *       "choices": [
                         *         "cancel"
                         *       ],
                         *       "actions": [
                         *         {
                         *           "name": "cancel",
                         *           "label": "Cancel the plan",
                         *           "command": "/plan cancel 1"
                         *         }
                         *       ]
                         *     }
                         */
                        "application/json": components["schemas"]["PlanView"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/plans/{id}/review": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The comments so far
         * @description The draft of the person who asks, and the rounds that were sent on this plan and on the plans that it replaced. A comment
         *     on an earlier version has a `state` in the current one.
         */
        get: {
            parameters: {
                query?: {
                    /** @description The channel of the session; `web` if it is not said. */
                    channel?: "web" | "telegram" | "cli" | "mcp" | "acp" | "legacy";
                    /** @description The session the plan belongs to. With it a plan can also be named by its number, or by a piece of its id. */
                    sessionId?: components["schemas"]["ConversationKey"];
                };
                header?: never;
                path: {
                    /** @description The id of the plan or, with `sessionId`, its number or a piece of its id */
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The draft and the rounds */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "planId": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
                         *       "version": 1,
                         *       "comments": [
                         *         {
                         *           "id": "c1",
                         *           "anchor": {
                         *             "quote": "copy the files",
                         *             "prefix": "new host ",
                         *             "suffix": ""
                         *           },
                         *           "kind": "comment",
                         *           "text": "Which files?"
                         *         }
                         *       ],
                         *       "rounds": []
                         *     }
                         */
                        "application/json": components["schemas"]["ReviewView"];
                    };
                };
            };
        };
        /**
         * Keep comments as a draft
         * @description They replace the draft of the person who sends them, and wait on the server until `approve` or `revise` sends them with
         *     `review: true`.
         */
        put: {
            parameters: {
                query?: {
                    /** @description The channel of the session; `web` if it is not said. */
                    channel?: "web" | "telegram" | "cli" | "mcp" | "acp" | "legacy";
                    /** @description The session the plan belongs to. With it a plan can also be named by its number, or by a piece of its id. */
                    sessionId?: components["schemas"]["ConversationKey"];
                };
                header?: never;
                path: {
                    /** @description The id of the plan or, with `sessionId`, its number or a piece of its id */
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["ReviewDraft"];
                };
            };
            responses: {
                /** @description The draft and the rounds */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "planId": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
                         *       "version": 1,
                         *       "comments": [
                         *         {
                         *           "id": "c1",
                         *           "anchor": {
                         *             "quote": "copy the files",
                         *             "prefix": "new host ",
                         *             "suffix": ""
                         *           },
                         *           "kind": "comment",
                         *           "text": "Which files?"
                         *         }
                         *       ],
                         *       "rounds": []
                         *     }
                         */
                        "application/json": components["schemas"]["ReviewView"];
                    };
                };
            };
        };
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/plans/{id}/review/resolve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resolve a comment
         * @description Says whether the person is satisfied with what became of a comment. It is a comment of a round of this plan.
         */
        post: {
            parameters: {
                query?: {
                    /** @description The channel of the session; `web` if it is not said. */
                    channel?: "web" | "telegram" | "cli" | "mcp" | "acp" | "legacy";
                    /** @description The session the plan belongs to. With it a plan can also be named by its number, or by a piece of its id. */
                    sessionId?: components["schemas"]["ConversationKey"];
                };
                header?: {
                    /** @description A name for this request. Sent again with the same name, it is not carried out again and gets the same answer, for 24 hours. */
                    "Idempotency-Key"?: string;
                };
                path: {
                    /** @description The id of the plan or, with `sessionId`, its number or a piece of its id */
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["CommentResolution"];
                };
            };
            responses: {
                /** @description The draft and the rounds */
                200: {
                    headers: {
                        /** @description The answer is that of an earlier request with the same key */
                        "idempotent-replayed"?: "true";
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "planId": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
                         *       "version": 1,
                         *       "comments": [
                         *         {
                         *           "id": "c1",
                         *           "anchor": {
                         *             "quote": "copy the files",
                         *             "prefix": "new host ",
                         *             "suffix": ""
                         *           },
                         *           "kind": "comment",
                         *           "text": "Which files?"
                         *         }
                         *       ],
                         *       "rounds": []
                         *     }
                         */
                        "application/json": components["schemas"]["ReviewView"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/plans/{id}/revise": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ask for changes
         * @description The agent makes them after the answer, which is the plan it works on: the same one, or the one that replaces it.
         */
        post: {
            parameters: {
                query?: {
                    /** @description The channel of the session; `web` if it is not said. */
                    channel?: "web" | "telegram" | "cli" | "mcp" | "acp" | "legacy";
                    /** @description The session the plan belongs to. With it a plan can also be named by its number, or by a piece of its id. */
                    sessionId?: components["schemas"]["ConversationKey"];
                };
                header?: {
                    /** @description A name for this request. Sent again with the same name, it is not carried out again and gets the same answer, for 24 hours. */
                    "Idempotency-Key"?: string;
                };
                path: {
                    /** @description The id of the plan or, with `sessionId`, its number or a piece of its id */
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Feedback"];
                };
            };
            responses: {
                /** @description The feedback has reached the agent */
                200: {
                    headers: {
                        /** @description The answer is that of an earlier request with the same key */
                        "idempotent-replayed"?: "true";
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "id": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
                         *       "sessionId": "k3yk3y8x",
                         *       "channel": "web",
                         *       "number": 1,
                         *       "status": "EXECUTING",
                         *       "style": "document",
                         *       "title": "Move the blog to a new host",
                         *       "digest": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                         *       "version": 1,
                         *       "markdown": "# Move the blog to a new host\n\n- [ ] copy the files\n",
                         *       "steps": [
                         *         {
                         *           "id": "s1",
                         *           "position": 1,
                         *           "description": "copy the files",
                         *           "status": "PENDING"
                         *         }
                         *       ],
                         *       "progress": {
                         *         "done": 0,
                         *         "total": 1,
                         *         "next": {
                         *           "step": 1,
                         *           "description": "copy the files"
                         *         }
                         *       },
                         *       "execution": null,
                         *       "supersedes": null,
                         *       "supersededBy": null,
                         *       "feedback": null,
                         *       "approval": null,
                         *       "endedBecause": null,
                         *       "createdAt": "2026-03-01T12:01:00Z",
                         *       "updatedAt": "2026-03-01T12:06:00Z",
                         *       "situation": "It is being carried out.",
                         *       "choices": [
                         *         "cancel"
                         *       ],
                         *       "actions": [
                         *         {
                         *           "name": "cancel",
                         *           "label": "Cancel the plan",
                         *           "command": "/plan cancel 1"
                         *         }
                         *       ]
                         *     }
                         */
                        "application/json": components["schemas"]["PlanView"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/plans/{id}/undo": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Undo what a plan changed in files
         * @description Puts the files back as they were before the plan or one of its steps. A file that something else changed since is left as
         *     it is and named.
         */
        post: {
            parameters: {
                query?: {
                    /** @description The channel of the session; `web` if it is not said. */
                    channel?: "web" | "telegram" | "cli" | "mcp" | "acp" | "legacy";
                    /** @description The session the plan belongs to. With it a plan can also be named by its number, or by a piece of its id. */
                    sessionId?: components["schemas"]["ConversationKey"];
                };
                header?: {
                    /** @description A name for this request. Sent again with the same name, it is not carried out again and gets the same answer, for 24 hours. */
                    "Idempotency-Key"?: string;
                };
                path: {
                    /** @description The id of the plan or, with `sessionId`, its number or a piece of its id */
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": components["schemas"]["Undoing"];
                };
            };
            responses: {
                /** @description What was put back */
                200: {
                    headers: {
                        /** @description The answer is that of an earlier request with the same key */
                        "idempotent-replayed"?: "true";
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "planId": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
                         *       "paths": [
                         *         "src/main.rs"
                         *       ],
                         *       "notUndone": [
                         *         {
                         *           "workspace": "/home/ada/till",
                         *           "path": "README.md",
                         *           "why": "It was changed since, so it was left as it is."
                         *         }
                         *       ]
                         *     }
                         */
                        "application/json": components["schemas"]["UndoView"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/plans/disable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Leave plan work
         * @description The plan is parked as it is.
         */
        post: {
            parameters: {
                query?: never;
                header?: {
                    /** @description A name for this request. Sent again with the same name, it is not carried out again and gets the same answer, for 24 hours. */
                    "Idempotency-Key"?: string;
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Leaving"];
                };
            };
            responses: {
                /** @description Plan work is off */
                200: {
                    headers: {
                        /** @description The answer is that of an earlier request with the same key */
                        "idempotent-replayed"?: "true";
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "sessionId": "k3yk3y8x",
                         *       "channel": "web",
                         *       "planMode": {
                         *         "enabled": false,
                         *         "style": "document",
                         *         "activePlanId": null,
                         *         "updatedAt": "2026-03-01T12:01:00Z"
                         *       }
                         *     }
                         */
                        "application/json": components["schemas"]["PlanWork"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/plans/done": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * End plan work
         * @description An empty plan is cancelled, a running one is closed by what was done, any other is parked.
         */
        post: {
            parameters: {
                query?: never;
                header?: {
                    /** @description A name for this request. Sent again with the same name, it is not carried out again and gets the same answer, for 24 hours. */
                    "Idempotency-Key"?: string;
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Leaving"];
                };
            };
            responses: {
                /** @description Plan work is over */
                200: {
                    headers: {
                        /** @description The answer is that of an earlier request with the same key */
                        "idempotent-replayed"?: "true";
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "sessionId": "k3yk3y8x",
                         *       "channel": "web",
                         *       "planMode": {
                         *         "enabled": false,
                         *         "style": "document",
                         *         "activePlanId": null,
                         *         "updatedAt": "2026-03-01T12:01:00Z"
                         *       }
                         *     }
                         */
                        "application/json": components["schemas"]["PlanWork"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/plans/enable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Begin plan work
         * @description Makes a plan and works on it, unless the one that is worked on is empty and of this style.
         */
        post: {
            parameters: {
                query?: never;
                header?: {
                    /** @description A name for this request. Sent again with the same name, it is not carried out again and gets the same answer, for 24 hours. */
                    "Idempotency-Key"?: string;
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Enabling"];
                };
            };
            responses: {
                /** @description Plan work is on */
                200: {
                    headers: {
                        /** @description The answer is that of an earlier request with the same key */
                        "idempotent-replayed"?: "true";
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "sessionId": "k3yk3y8x",
                         *       "channel": "web",
                         *       "planMode": {
                         *         "enabled": true,
                         *         "style": "document",
                         *         "activePlanId": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
                         *         "updatedAt": "2026-03-01T12:01:00Z"
                         *       }
                         *     }
                         */
                        "application/json": components["schemas"]["PlanWork"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/plans/recent": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the plans that ended, over all sessions */
        get: {
            parameters: {
                query?: {
                    /** @description The `next` of the page before. */
                    after?: number;
                    limit?: number;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description A page of plans */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "plans": [
                         *         {
                         *           "sessionId": "k3yk3y8x",
                         *           "channel": "web",
                         *           "id": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
                         *           "number": 1,
                         *           "status": "COMPLETED",
                         *           "style": "document",
                         *           "title": "Move the blog to a new host",
                         *           "updatedAt": "2026-03-01T12:20:00Z"
                         *         }
                         *       ],
                         *       "next": null
                         *     }
                         */
                        "application/json": components["schemas"]["RecentPlans"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/push": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the browsers that get pushes */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The browsers */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "publicKey": "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8",
                         *       "subscriptions": [
                         *         {
                         *           "id": "5f0c1d2e3a4b5c6d7e8f9a0b",
                         *           "name": "Chrome on Android",
                         *           "sinceAt": "2026-03-01T12:00:00Z",
                         *           "current": true
                         *         }
                         *       ]
                         *     }
                         */
                        "application/json": components["schemas"]["Push"];
                    };
                };
            };
        };
        put?: never;
        /**
         * Send pushes to this browser
         * @description Only a browser that is signed in can ask for it, and only for itself. It is told what waits and its title, and the push opens the page where it is decided. The
         *     pushes end when it is signed out or when its push service says that it is gone. Sent again, the request changes nothing.
         */
        post: {
            parameters: {
                query?: never;
                header?: {
                    /** @description A name for this request. Sent again with the same name, it is not carried out again and gets the same answer, for 24 hours. */
                    "Idempotency-Key"?: string;
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["PushSubscriptionToAdd"];
                };
            };
            responses: {
                /** @description It gets pushes */
                200: {
                    headers: {
                        /** @description The answer is that of an earlier request with the same key */
                        "idempotent-replayed"?: "true";
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "id": "5f0c1d2e3a4b5c6d7e8f9a0b",
                         *       "name": "Chrome on Android",
                         *       "sinceAt": "2026-03-01T12:00:00Z",
                         *       "current": true
                         *     }
                         */
                        "application/json": components["schemas"]["PushSubscription"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/push/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Send no more pushes to a browser */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description The id of the subscription */
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description It gets no more pushes */
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/questions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Answer the questions of an agent */
        post: {
            parameters: {
                query?: never;
                header?: {
                    /** @description A name for this request. Sent again with the same name, it is not carried out again and gets the same answer, for 24 hours. */
                    "Idempotency-Key"?: string;
                };
                path: {
                    /** @description The id of what the agent asks */
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["QuestionAnswers"];
                };
            };
            responses: {
                /** @description They are answered */
                200: {
                    headers: {
                        /** @description The answer is that of an earlier request with the same key */
                        "idempotent-replayed"?: "true";
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "id": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11-ask-1",
                         *       "sessionId": "k3yk3y8x",
                         *       "channel": "web",
                         *       "words": "Answered."
                         *     }
                         */
                        "application/json": components["schemas"]["Answered"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the runs of a session */
        get: {
            parameters: {
                query: {
                    /** @description The channel of the session; `web` if it is not said. */
                    channel?: "web" | "telegram" | "cli" | "mcp" | "acp" | "legacy";
                    sessionId: components["schemas"]["ConversationKey"];
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The runs */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "items": [
                         *         {
                         *           "id": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
                         *           "number": 1,
                         *           "runKind": "GOAL_RUN",
                         *           "goalId": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
                         *           "taskId": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
                         *           "state": "running",
                         *           "reason": null,
                         *           "startedAt": "2026-03-01T12:00:00Z",
                         *           "activeAt": "2026-03-01T12:00:00Z",
                         *           "spent": {
                         *             "turns": 2,
                         *             "tokens": 4100,
                         *             "seconds": 12.5,
                         *             "money": 0
                         *           },
                         *           "actions": [
                         *             {
                         *               "name": "stop",
                         *               "label": "Stop it",
                         *               "command": "/auto off 1"
                         *             }
                         *           ]
                         *         }
                         *       ]
                         *     }
                         */
                        "application/json": components["schemas"]["Runs"];
                    };
                };
            };
        };
        put?: never;
        /** Start a run */
        post: {
            parameters: {
                query?: never;
                header?: {
                    /** @description A name for this request. Sent again with the same name, it is not carried out again and gets the same answer, for 24 hours. */
                    "Idempotency-Key"?: string;
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["NewRun"];
                };
            };
            responses: {
                /** @description The run */
                201: {
                    headers: {
                        /** @description The answer is that of an earlier request with the same key */
                        "idempotent-replayed"?: "true";
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "id": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
                         *       "number": 1,
                         *       "runKind": "GOAL_RUN",
                         *       "goalId": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
                         *       "taskId": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
                         *       "state": "running",
                         *       "reason": null,
                         *       "startedAt": "2026-03-01T12:00:00Z",
                         *       "activeAt": "2026-03-01T12:00:00Z",
                         *       "spent": {
                         *         "turns": 2,
                         *         "tokens": 4100,
                         *         "seconds": 12.5,
                         *         "money": 0
                         *       },
                         *       "actions": [
                         *         {
                         *           "name": "stop",
                         *           "label": "Stop it",
                         *           "command": "/auto off 1"
                         *         }
                         *       ]
                         *     }
                         */
                        "application/json": components["schemas"]["Run"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Look at a run */
        get: {
            parameters: {
                query: {
                    /** @description The channel of the session; `web` if it is not said. */
                    channel?: "web" | "telegram" | "cli" | "mcp" | "acp" | "legacy";
                    sessionId: components["schemas"]["ConversationKey"];
                };
                header?: never;
                path: {
                    /** @description Its id or number */
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The run */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "id": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
                         *       "number": 1,
                         *       "runKind": "GOAL_RUN",
                         *       "goalId": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
                         *       "taskId": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
                         *       "state": "running",
                         *       "reason": null,
                         *       "startedAt": "2026-03-01T12:00:00Z",
                         *       "activeAt": "2026-03-01T12:00:00Z",
                         *       "spent": {
                         *         "turns": 2,
                         *         "tokens": 4100,
                         *         "seconds": 12.5,
                         *         "money": 0
                         *       },
                         *       "actions": [
                         *         {
                         *           "name": "stop",
                         *           "label": "Stop it",
                         *           "command": "/auto off 1"
                         *         }
                         *       ]
                         *     }
                         */
                        "application/json": components["schemas"]["Run"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Let a run continue
         * @description For a run that is paused or interrupted. Its budget counts from now on.
         */
        post: {
            parameters: {
                query: {
                    /** @description The channel of the session; `web` if it is not said. */
                    channel?: "web" | "telegram" | "cli" | "mcp" | "acp" | "legacy";
                    sessionId: components["schemas"]["ConversationKey"];
                };
                header?: {
                    /** @description A name for this request. Sent again with the same name, it is not carried out again and gets the same answer, for 24 hours. */
                    "Idempotency-Key"?: string;
                };
                path: {
                    /** @description Its id or number */
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": components["schemas"]["Proof"];
                };
            };
            responses: {
                /** @description The run */
                200: {
                    headers: {
                        /** @description The answer is that of an earlier request with the same key */
                        "idempotent-replayed"?: "true";
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "id": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
                         *       "number": 1,
                         *       "runKind": "GOAL_RUN",
                         *       "goalId": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
                         *       "taskId": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
                         *       "state": "running",
                         *       "reason": null,
                         *       "startedAt": "2026-03-01T12:00:00Z",
                         *       "activeAt": "2026-03-01T12:00:00Z",
                         *       "spent": {
                         *         "turns": 2,
                         *         "tokens": 4100,
                         *         "seconds": 12.5,
                         *         "money": 0
                         *       },
                         *       "actions": [
                         *         {
                         *           "name": "stop",
                         *           "label": "Stop it",
                         *           "command": "/auto off 1"
                         *         }
                         *       ]
                         *     }
                         */
                        "application/json": components["schemas"]["Run"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{id}/stop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * End a run
         * @description The turn that it has open ends, too.
         */
        post: {
            parameters: {
                query: {
                    /** @description The channel of the session; `web` if it is not said. */
                    channel?: "web" | "telegram" | "cli" | "mcp" | "acp" | "legacy";
                    sessionId: components["schemas"]["ConversationKey"];
                };
                header?: {
                    /** @description A name for this request. Sent again with the same name, it is not carried out again and gets the same answer, for 24 hours. */
                    "Idempotency-Key"?: string;
                };
                path: {
                    /** @description Its id or number */
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The run */
                200: {
                    headers: {
                        /** @description The answer is that of an earlier request with the same key */
                        "idempotent-replayed"?: "true";
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "id": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
                         *       "number": 1,
                         *       "runKind": "GOAL_RUN",
                         *       "goalId": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
                         *       "taskId": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
                         *       "state": "running",
                         *       "reason": null,
                         *       "startedAt": "2026-03-01T12:00:00Z",
                         *       "activeAt": "2026-03-01T12:00:00Z",
                         *       "spent": {
                         *         "turns": 2,
                         *         "tokens": 4100,
                         *         "seconds": 12.5,
                         *         "money": 0
                         *       },
                         *       "actions": [
                         *         {
                         *           "name": "stop",
                         *           "label": "Stop it",
                         *           "command": "/auto off 1"
                         *         }
                         *       ]
                         *     }
                         */
                        "application/json": components["schemas"]["Run"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/schedules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the schedules of a session */
        get: {
            parameters: {
                query: {
                    /** @description The channel of the session; `web` if it is not said. */
                    channel?: "web" | "telegram" | "cli" | "mcp" | "acp" | "legacy";
                    sessionId: components["schemas"]["ConversationKey"];
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The schedules */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "items": [
                         *         {
                         *           "id": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
                         *           "number": 1,
                         *           "title": "Read the news",
                         *           "taskId": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
                         *           "goalId": null,
                         *           "cron": "0 9 * * 1",
                         *           "timeZone": "Europe/Berlin",
                         *           "status": "active",
                         *           "executions": 0,
                         *           "maxExecutions": null,
                         *           "nextAt": "2026-03-01T12:00:00Z"
                         *         }
                         *       ]
                         *     }
                         */
                        "application/json": components["schemas"]["Schedules"];
                    };
                };
            };
        };
        put?: never;
        /** Do something at set times */
        post: {
            parameters: {
                query?: never;
                header?: {
                    /** @description A name for this request. Sent again with the same name, it is not carried out again and gets the same answer, for 24 hours. */
                    "Idempotency-Key"?: string;
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["NewSchedule"];
                };
            };
            responses: {
                /** @description The schedule */
                201: {
                    headers: {
                        /** @description The answer is that of an earlier request with the same key */
                        "idempotent-replayed"?: "true";
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "id": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
                         *       "number": 1,
                         *       "title": "Read the news",
                         *       "taskId": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
                         *       "goalId": null,
                         *       "cron": "0 9 * * 1",
                         *       "timeZone": "Europe/Berlin",
                         *       "status": "active",
                         *       "executions": 0,
                         *       "maxExecutions": null,
                         *       "nextAt": "2026-03-01T12:00:00Z"
                         *     }
                         */
                        "application/json": components["schemas"]["Schedule"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/schedules/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Delete a schedule */
        delete: {
            parameters: {
                query: {
                    /** @description The channel of the session; `web` if it is not said. */
                    channel?: "web" | "telegram" | "cli" | "mcp" | "acp" | "legacy";
                    sessionId: components["schemas"]["ConversationKey"];
                };
                header?: never;
                path: {
                    /** @description Its id or number */
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description It is deleted */
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/schedules/{id}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Pause a schedule */
        post: {
            parameters: {
                query: {
                    /** @description The channel of the session; `web` if it is not said. */
                    channel?: "web" | "telegram" | "cli" | "mcp" | "acp" | "legacy";
                    sessionId: components["schemas"]["ConversationKey"];
                };
                header?: {
                    /** @description A name for this request. Sent again with the same name, it is not carried out again and gets the same answer, for 24 hours. */
                    "Idempotency-Key"?: string;
                };
                path: {
                    /** @description Its id or number */
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The schedule */
                200: {
                    headers: {
                        /** @description The answer is that of an earlier request with the same key */
                        "idempotent-replayed"?: "true";
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "id": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
                         *       "number": 1,
                         *       "title": "Read the news",
                         *       "taskId": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
                         *       "goalId": null,
                         *       "cron": "0 9 * * 1",
                         *       "timeZone": "Europe/Berlin",
                         *       "status": "active",
                         *       "executions": 0,
                         *       "maxExecutions": null,
                         *       "nextAt": "2026-03-01T12:00:00Z"
                         *     }
                         */
                        "application/json": components["schemas"]["Schedule"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/schedules/{id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Let a paused schedule continue */
        post: {
            parameters: {
                query: {
                    /** @description The channel of the session; `web` if it is not said. */
                    channel?: "web" | "telegram" | "cli" | "mcp" | "acp" | "legacy";
                    sessionId: components["schemas"]["ConversationKey"];
                };
                header?: {
                    /** @description A name for this request. Sent again with the same name, it is not carried out again and gets the same answer, for 24 hours. */
                    "Idempotency-Key"?: string;
                };
                path: {
                    /** @description Its id or number */
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": components["schemas"]["Proof"];
                };
            };
            responses: {
                /** @description The schedule */
                200: {
                    headers: {
                        /** @description The answer is that of an earlier request with the same key */
                        "idempotent-replayed"?: "true";
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "id": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
                         *       "number": 1,
                         *       "title": "Read the news",
                         *       "taskId": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
                         *       "goalId": null,
                         *       "cron": "0 9 * * 1",
                         *       "timeZone": "Europe/Berlin",
                         *       "status": "active",
                         *       "executions": 0,
                         *       "maxExecutions": null,
                         *       "nextAt": "2026-03-01T12:00:00Z"
                         *     }
                         */
                        "application/json": components["schemas"]["Schedule"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/server": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show what the server is */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The server */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "version": "0.2.0",
                         *       "commit": "1171f02c94c7",
                         *       "commitDate": "2026-03-01",
                         *       "startedAt": "2026-03-01T12:00:00Z",
                         *       "model": {
                         *         "provider": "openai",
                         *         "name": "gpt-5",
                         *         "isRehearsal": false,
                         *         "contextTokens": 128000
                         *       },
                         *       "store": {
                         *         "kind": "SQLite 3.50.4",
                         *         "schema": 7
                         *       },
                         *       "publicUrl": "https://plans.example.org",
                         *       "dashboard": true,
                         *       "features": [
                         *         "commands",
                         *         "reviews",
                         *         "titles",
                         *         "watch"
                         *       ]
                         *     }
                         */
                        "application/json": components["schemas"]["Server"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the sessions
         * @description The most recently active first.
         */
        get: {
            parameters: {
                query?: {
                    /** @description The `next` of the page before. */
                    after?: number;
                    limit?: number;
                    /** @description Only sessions whose title, topic, key or channel have all of these words. */
                    q?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description A page of sessions */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "sessions": [
                         *         {
                         *           "sessionId": "k3yk3y8x",
                         *           "channel": "web",
                         *           "topic": "move the blog to a new host",
                         *           "title": "The blog",
                         *           "openedAt": "2026-03-01T12:00:00Z",
                         *           "lastActive": "2026-03-01T12:05:00Z",
                         *           "seq": 12,
                         *           "working": false,
                         *           "plansMade": 1,
                         *           "planMode": {
                         *             "enabled": true,
                         *             "style": "document",
                         *             "activePlanId": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
                         *             "updatedAt": "2026-03-01T12:01:00Z"
                         *           },
                         *           "workspace": "/home/ada/till"
                         *         }
                         *       ],
                         *       "next": null
                         *     }
                         */
                        "application/json": components["schemas"]["SessionList"];
                    };
                };
            };
        };
        put?: never;
        /**
         * Create a session
         * @description If the key exists, the answer is its session. A `workspace` is then its workspace from now on.
         */
        post: {
            parameters: {
                query?: never;
                header?: {
                    /** @description A name for this request. Sent again with the same name, it is not carried out again and gets the same answer, for 24 hours. */
                    "Idempotency-Key"?: string;
                };
                path?: never;
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": components["schemas"]["NewSession"];
                };
            };
            responses: {
                /** @description The session existed before */
                200: {
                    headers: {
                        /** @description The answer is that of an earlier request with the same key */
                        "idempotent-replayed"?: "true";
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "sessionId": "k3yk3y8x",
                         *       "channel": "web",
                         *       "topic": "move the blog to a new host",
                         *       "title": "The blog",
                         *       "openedAt": "2026-03-01T12:00:00Z",
                         *       "lastActive": "2026-03-01T12:05:00Z",
                         *       "seq": 12,
                         *       "working": false,
                         *       "plansMade": 1,
                         *       "planMode": {
                         *         "enabled": true,
                         *         "style": "document",
                         *         "activePlanId": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
                         *         "updatedAt": "2026-03-01T12:01:00Z"
                         *       },
                         *       "workspace": "/home/ada/till"
                         *     }
                         */
                        "application/json": components["schemas"]["StoredSessionView"];
                    };
                };
                /** @description The new session */
                201: {
                    headers: {
                        /** @description The answer is that of an earlier request with the same key */
                        "idempotent-replayed"?: "true";
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "sessionId": "k3yk3y8x",
                         *       "channel": "web",
                         *       "topic": "move the blog to a new host",
                         *       "title": "The blog",
                         *       "openedAt": "2026-03-01T12:00:00Z",
                         *       "lastActive": "2026-03-01T12:05:00Z",
                         *       "seq": 12,
                         *       "working": false,
                         *       "plansMade": 1,
                         *       "planMode": {
                         *         "enabled": true,
                         *         "style": "document",
                         *         "activePlanId": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
                         *         "updatedAt": "2026-03-01T12:01:00Z"
                         *       },
                         *       "workspace": "/home/ada/till"
                         *     }
                         */
                        "application/json": components["schemas"]["StoredSessionView"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{sessionId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show a session */
        get: {
            parameters: {
                query?: {
                    /** @description The channel of the session; `web` if it is not said. */
                    channel?: "web" | "telegram" | "cli" | "mcp" | "acp" | "legacy";
                };
                header?: never;
                path: {
                    /** @description The key of the conversation */
                    sessionId: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The session */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "sessionId": "k3yk3y8x",
                         *       "channel": "web",
                         *       "topic": "move the blog to a new host",
                         *       "title": "The blog",
                         *       "openedAt": "2026-03-01T12:00:00Z",
                         *       "lastActive": "2026-03-01T12:05:00Z",
                         *       "seq": 12,
                         *       "working": false,
                         *       "plansMade": 1,
                         *       "planMode": {
                         *         "enabled": true,
                         *         "style": "document",
                         *         "activePlanId": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
                         *         "updatedAt": "2026-03-01T12:01:00Z"
                         *       },
                         *       "workspace": "/home/ada/till"
                         *     }
                         */
                        "application/json": components["schemas"]["StoredSessionView"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        /**
         * Delete a session
         * @description With everything that belongs to it: its journal, its plans and its files. A running turn is stopped.
         */
        delete: {
            parameters: {
                query?: {
                    /** @description The channel of the session; `web` if it is not said. */
                    channel?: "web" | "telegram" | "cli" | "mcp" | "acp" | "legacy";
                };
                header?: never;
                path: {
                    /** @description The key of the conversation */
                    sessionId: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The session is deleted */
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        options?: never;
        head?: never;
        /** Rename a session */
        patch: {
            parameters: {
                query?: {
                    /** @description The channel of the session; `web` if it is not said. */
                    channel?: "web" | "telegram" | "cli" | "mcp" | "acp" | "legacy";
                };
                header?: never;
                path: {
                    /** @description The key of the conversation */
                    sessionId: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Renaming"];
                };
            };
            responses: {
                /** @description The session with its name */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "sessionId": "k3yk3y8x",
                         *       "channel": "web",
                         *       "topic": "move the blog to a new host",
                         *       "title": "The blog",
                         *       "openedAt": "2026-03-01T12:00:00Z",
                         *       "lastActive": "2026-03-01T12:05:00Z",
                         *       "seq": 12,
                         *       "working": false,
                         *       "plansMade": 1,
                         *       "planMode": {
                         *         "enabled": true,
                         *         "style": "document",
                         *         "activePlanId": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
                         *         "updatedAt": "2026-03-01T12:01:00Z"
                         *       },
                         *       "workspace": "/home/ada/till"
                         *     }
                         */
                        "application/json": components["schemas"]["StoredSessionView"];
                    };
                };
            };
        };
        trace?: never;
    };
    "/api/sessions/{sessionId}/changes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show what a conversation changed in files
         * @description A unified diff for each file, of the whole conversation and of its turns. What plans changed and what was put back is not
         *     among them.
         */
        get: {
            parameters: {
                query?: {
                    /** @description The channel of the session; `web` if it is not said. */
                    channel?: "web" | "telegram" | "cli" | "mcp" | "acp" | "legacy";
                };
                header?: never;
                path: {
                    /** @description The key of the conversation */
                    sessionId: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description What it changed */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "sessionId": "k3yk3y8x",
                         *       "channel": "web",
                         *       "files": [
                         *         {
                         *           "workspace": null,
                         *           "path": "notes.md",
                         *           "diff": "diff --git a/notes.md b/notes.md\nnew file mode 100644\n--- /dev/null\n+++ b/notes.md\n@@ -0,0 +1 @@\n+milk\n",
                         *           "addedLines": 1,
                         *           "removedLines": 0,
                         *           "truncated": false
                         *         }
                         *       ],
                         *       "turns": [
                         *         {
                         *           "turnId": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c12",
                         *           "at": "2026-03-01T12:04:00Z",
                         *           "text": "note that we need milk",
                         *           "files": [
                         *             {
                         *               "workspace": null,
                         *               "path": "notes.md",
                         *               "diff": "diff --git a/notes.md b/notes.md\nnew file mode 100644\n--- /dev/null\n+++ b/notes.md\n@@ -0,0 +1 @@\n+milk\n",
                         *               "addedLines": 1,
                         *               "removedLines": 0,
                         *               "truncated": false
                         *             }
                         *           ]
                         *         }
                         *       ],
                         *       "uncovered": {
                         *         "added": [],
                         *         "changed": [],
                         *         "removed": [],
                         *         "complete": true
                         *       },
                         *       "undone": []
                         *     }
                         */
                        "application/json": components["schemas"]["ChatChangesView"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{sessionId}/files": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List files of the workspace
         * @description The files and folders of one folder. What the workspace ignores, and what permission rules deny, is left out. A prefix that
         *     no path begins with finds nothing.
         */
        get: {
            parameters: {
                query?: {
                    /** @description The channel of the session; `web` if it is not said. */
                    channel?: "web" | "telegram" | "cli" | "mcp" | "acp" | "legacy";
                    limit?: number;
                    /** @description What the paths begin with: `src/` for what is in a folder, `src/ma` for those of them that begin with `ma`. */
                    prefix?: string;
                };
                header?: never;
                path: {
                    /** @description The key of the conversation */
                    sessionId: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Files and folders */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "files": [
                         *         {
                         *           "path": "src/bin",
                         *           "bytes": null,
                         *           "directory": true
                         *         },
                         *         {
                         *           "path": "src/main.rs",
                         *           "bytes": 1204,
                         *           "directory": false
                         *         }
                         *       ],
                         *       "truncated": false
                         *     }
                         */
                        "application/json": components["schemas"]["WorkspaceFiles"];
                    };
                };
            };
        };
        put?: never;
        /**
         * Send a file to a session
         * @description The body is the file. It is put below `received` in the session's own folder and never replaces another file. A session that
         *     works in a project folder takes none.
         */
        post: {
            parameters: {
                query?: {
                    /** @description The channel of the session; `web` if it is not said. */
                    channel?: "web" | "telegram" | "cli" | "mcp" | "acp" | "legacy";
                    /** @description The name of the file. Other characters than letters, digits, `-`, `_` and `.` are replaced. */
                    name?: string;
                };
                header?: {
                    /** @description A name for this request. Sent again with the same name, it is not carried out again and gets the same answer, for 24 hours. */
                    "Idempotency-Key"?: string;
                };
                path: {
                    /** @description The key of the conversation */
                    sessionId: string;
                };
                cookie?: never;
            };
            /** @description The file */
            requestBody?: {
                content: {
                    "application/octet-stream": components["schemas"]["Binary"];
                };
            };
            responses: {
                /** @description Where it is */
                201: {
                    headers: {
                        /** @description The answer is that of an earlier request with the same key */
                        "idempotent-replayed"?: "true";
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "path": "received/notes.md",
                         *       "bytes": 8
                         *     }
                         */
                        "application/json": components["schemas"]["ReceivedFile"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{sessionId}/files/content": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a file of the workspace
         * @description Its bytes as they are. Pictures have their type, text is `text/plain`, and everything else is `application/octet-stream`. A
         *     file that permission rules deny is answered like one that does not exist.
         */
        get: {
            parameters: {
                query: {
                    /** @description The channel of the session; `web` if it is not said. */
                    channel?: "web" | "telegram" | "cli" | "mcp" | "acp" | "legacy";
                    /** @description The file, from the workspace's root. */
                    path: string;
                };
                header?: never;
                path: {
                    /** @description The key of the conversation */
                    sessionId: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The file */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /** @example … */
                        "application/octet-stream": components["schemas"]["Binary"];
                        /** @example … */
                        "image/gif": components["schemas"]["Binary"];
                        /** @example … */
                        "image/jpeg": components["schemas"]["Binary"];
                        /** @example … */
                        "image/png": components["schemas"]["Binary"];
                        /** @example … */
                        "image/webp": components["schemas"]["Binary"];
                        /** @example # Notes */
                        "text/plain": string;
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{sessionId}/journal": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the journal
         * @description Everything that happened in the session, in order. With `before` or `at` the newest entries come first. Each entry carries
         *     the hash of the chain up to it.
         */
        get: {
            parameters: {
                query?: {
                    /** @description Only entries after this one: the last one that the client has, or the `next` of the page before. */
                    after?: number;
                    /**
                     * @description Only entries that were written by this time, the newest first.
                     * @example 2026-03-01T12:00:00Z
                     */
                    at?: string;
                    /** @description Only entries before this one, the newest first; the `next` of the page before. */
                    before?: number;
                    /** @description The channel of the session; `web` if it is not said. */
                    channel?: "web" | "telegram" | "cli" | "mcp" | "acp" | "legacy";
                    limit?: number;
                };
                header?: never;
                path: {
                    /** @description The key of the conversation */
                    sessionId: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description A page of entries */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "sessionId": "k3yk3y8x",
                         *       "channel": "web",
                         *       "entries": [
                         *         {
                         *           "seq": 1,
                         *           "at": "2026-03-01T12:00:00Z",
                         *           "by": {
                         *             "kind": "person",
                         *             "name": "person",
                         *             "through": "web"
                         *           },
                         *           "type": "session_opened",
                         *           "event": {
                         *             "type": "session_opened"
                         *           },
                         *           "hash": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
                         *         }
                         *       ],
                         *       "next": null
                         *     }
                         */
                        "application/json": components["schemas"]["JournalPage"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{sessionId}/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the conversation
         * @description The newest page first, each page in order. A run has messages of its own, which are read with `runId`; the conversation
         *     has its result.
         */
        get: {
            parameters: {
                query?: {
                    /** @description Only what is older than this entry; the `next` of the page before. */
                    before?: number;
                    /** @description The channel of the session; `web` if it is not said. */
                    channel?: "web" | "telegram" | "cli" | "mcp" | "acp" | "legacy";
                    limit?: number;
                    /** @description The id of a run: what was said in its turns, which the conversation has only the result of. */
                    runId?: string;
                };
                header?: never;
                path: {
                    /** @description The key of the conversation */
                    sessionId: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description A page of messages */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "sessionId": "k3yk3y8x",
                         *       "channel": "web",
                         *       "messages": [
                         *         {
                         *           "seq": 2,
                         *           "at": "2026-03-01T12:00:01Z",
                         *           "role": "person",
                         *           "by": {
                         *             "kind": "person",
                         *             "name": "person",
                         *             "through": "web"
                         *           },
                         *           "text": "move the blog to a new host"
                         *         }
                         *       ],
                         *       "next": null
                         *     }
                         */
                        "application/json": components["schemas"]["MessagePage"];
                    };
                };
            };
        };
        put?: never;
        /**
         * Say something
         * @description Waits until the turn is over. With `Accept: text/event-stream` the client is sent what happens meanwhile, and the last
         *     event is `answer` or `problem`. Closing the connection does not stop the turn. Commands are sent in the same way; `/new`
         *     and `/switch` answer with the session that is active then.
         */
        post: {
            parameters: {
                query?: {
                    /** @description The channel of the session; `web` if it is not said. */
                    channel?: "web" | "telegram" | "cli" | "mcp" | "acp" | "legacy";
                };
                header?: {
                    /** @description A name for this request. Sent again with the same name, it is not carried out again and gets the same answer, for 24 hours. */
                    "Idempotency-Key"?: string;
                };
                path: {
                    /** @description The key of the conversation */
                    sessionId: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["NewMessage"];
                };
            };
            responses: {
                /** @description The turn is over, or the command is carried out */
                200: {
                    headers: {
                        /** @description The answer is that of an earlier request with the same key */
                        "idempotent-replayed"?: "true";
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "sessionId": "k3yk3y8x",
                         *       "channel": "web",
                         *       "reply": "The plan is ready.",
                         *       "outcome": "answered",
                         *       "planId": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
                         *       "plan": {
                         *         "planId": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
                         *         "number": 1,
                         *         "title": "Move the blog to a new host",
                         *         "status": "READY",
                         *         "style": "document",
                         *         "version": 1,
                         *         "digest": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                         *         "markdown": "# Move the blog to a new host\n\n- [ ] copy the files\n",
                         *         "approval": null,
                         *         "progress": null,
                         *         "next": [
                         *           "/plan approve 1",
                         *           "/plan revise #1 WHAT TO CHANGE",
                         *           "/plan reject 1"
                         *         ]
                         *       }
                         *     }
                         */
                        "application/json": components["schemas"]["AnswerView"];
                        /**
                         * @example event: accepted
                         *     data: {"type":"accepted","sessionId":"k3yk3y8x","channel":"web","seq":2,"turnId":"019ca6b2"}
                         */
                        "text/event-stream": string;
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{sessionId}/state": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show a session as it was
         * @description The session after an entry of its journal. The journal is read again from its beginning; what a damaged entry did is missing.
         */
        get: {
            parameters: {
                query?: {
                    /** @description The channel of the session; `web` if it is not said. */
                    channel?: "web" | "telegram" | "cli" | "mcp" | "acp" | "legacy";
                    /** @description The entry of the journal after which the session is shown; the last one if it is not said. */
                    seq?: number;
                };
                header?: never;
                path: {
                    /** @description The key of the conversation */
                    sessionId: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The session as it was */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "sessionId": "k3yk3y8x",
                         *       "channel": "web",
                         *       "seq": 7,
                         *       "at": "2026-03-01T12:02:00Z",
                         *       "title": null,
                         *       "topic": "move the blog to a new host",
                         *       "mode": "plan",
                         *       "style": "document",
                         *       "activePlanId": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
                         *       "working": false,
                         *       "workspace": null,
                         *       "plans": [
                         *         {
                         *           "planId": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
                         *           "number": 1,
                         *           "title": "Move the blog",
                         *           "status": "READY",
                         *           "style": "document",
                         *           "version": 1,
                         *           "updatedAt": "2026-03-01T12:02:00Z"
                         *         }
                         *       ],
                         *       "goals": [],
                         *       "tasks": [],
                         *       "schedules": [],
                         *       "runs": [],
                         *       "workbook": null
                         *     }
                         */
                        "application/json": components["schemas"]["PastState"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{sessionId}/stop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Stop the running turn of a session */
        post: {
            parameters: {
                query?: {
                    /** @description The channel of the session; `web` if it is not said. */
                    channel?: "web" | "telegram" | "cli" | "mcp" | "acp" | "legacy";
                };
                header?: {
                    /** @description A name for this request. Sent again with the same name, it is not carried out again and gets the same answer, for 24 hours. */
                    "Idempotency-Key"?: string;
                };
                path: {
                    /** @description The key of the conversation */
                    sessionId: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": components["schemas"]["Stop"];
                };
            };
            responses: {
                /** @description No turn is running */
                200: {
                    headers: {
                        /** @description The answer is that of an earlier request with the same key */
                        "idempotent-replayed"?: "true";
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "sessionId": "k3yk3y8x",
                         *       "channel": "web",
                         *       "stopped": true
                         *     }
                         */
                        "application/json": components["schemas"]["Stopped"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{sessionId}/undo": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Undo what the last turn changed in files
         * @description Puts the files back as they were before the last turn of the conversation that changed files outside of any plan. A file
         *     that something else changed since is left as it is and named.
         */
        post: {
            parameters: {
                query?: {
                    /** @description The channel of the session; `web` if it is not said. */
                    channel?: "web" | "telegram" | "cli" | "mcp" | "acp" | "legacy";
                };
                header?: {
                    /** @description A name for this request. Sent again with the same name, it is not carried out again and gets the same answer, for 24 hours. */
                    "Idempotency-Key"?: string;
                };
                path: {
                    /** @description The key of the conversation */
                    sessionId: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": components["schemas"]["UndoingTurn"];
                };
            };
            responses: {
                /** @description What was put back */
                200: {
                    headers: {
                        /** @description The answer is that of an earlier request with the same key */
                        "idempotent-replayed"?: "true";
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "paths": [
                         *         "src/main.rs"
                         *       ],
                         *       "notUndone": []
                         *     }
                         */
                        "application/json": components["schemas"]["UndoView"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tasks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the tasks of a session */
        get: {
            parameters: {
                query: {
                    /** @description The channel of the session; `web` if it is not said. */
                    channel?: "web" | "telegram" | "cli" | "mcp" | "acp" | "legacy";
                    sessionId: components["schemas"]["ConversationKey"];
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The tasks */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "items": [
                         *         {
                         *           "id": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
                         *           "number": 1,
                         *           "goalId": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
                         *           "title": "The first warning",
                         *           "status": "open",
                         *           "note": null,
                         *           "addedAt": "2026-03-01T12:00:00Z",
                         *           "changedAt": "2026-03-01T12:00:00Z"
                         *         }
                         *       ]
                         *     }
                         */
                        "application/json": components["schemas"]["Tasks"];
                    };
                };
            };
        };
        put?: never;
        /** Add a task */
        post: {
            parameters: {
                query?: never;
                header?: {
                    /** @description A name for this request. Sent again with the same name, it is not carried out again and gets the same answer, for 24 hours. */
                    "Idempotency-Key"?: string;
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["NewTask"];
                };
            };
            responses: {
                /** @description The task */
                201: {
                    headers: {
                        /** @description The answer is that of an earlier request with the same key */
                        "idempotent-replayed"?: "true";
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "id": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
                         *       "number": 1,
                         *       "goalId": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
                         *       "title": "The first warning",
                         *       "status": "open",
                         *       "note": null,
                         *       "addedAt": "2026-03-01T12:00:00Z",
                         *       "changedAt": "2026-03-01T12:00:00Z"
                         *     }
                         */
                        "application/json": components["schemas"]["Task"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tasks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Look at a task */
        get: {
            parameters: {
                query: {
                    /** @description The channel of the session; `web` if it is not said. */
                    channel?: "web" | "telegram" | "cli" | "mcp" | "acp" | "legacy";
                    sessionId: components["schemas"]["ConversationKey"];
                };
                header?: never;
                path: {
                    /** @description Its id or number */
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The task */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "id": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
                         *       "number": 1,
                         *       "goalId": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
                         *       "title": "The first warning",
                         *       "status": "open",
                         *       "note": null,
                         *       "addedAt": "2026-03-01T12:00:00Z",
                         *       "changedAt": "2026-03-01T12:00:00Z"
                         *     }
                         */
                        "application/json": components["schemas"]["Task"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /** Say how a task ended */
        patch: {
            parameters: {
                query: {
                    /** @description The channel of the session; `web` if it is not said. */
                    channel?: "web" | "telegram" | "cli" | "mcp" | "acp" | "legacy";
                    sessionId: components["schemas"]["ConversationKey"];
                };
                header?: never;
                path: {
                    /** @description Its id or number */
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["TaskChange"];
                };
            };
            responses: {
                /** @description The task */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "id": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
                         *       "number": 1,
                         *       "goalId": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
                         *       "title": "The first warning",
                         *       "status": "open",
                         *       "note": null,
                         *       "addedAt": "2026-03-01T12:00:00Z",
                         *       "changedAt": "2026-03-01T12:00:00Z"
                         *     }
                         */
                        "application/json": components["schemas"]["Task"];
                    };
                };
            };
        };
        trace?: never;
    };
    "/api/workbook": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show the workbook of a session */
        get: {
            parameters: {
                query: {
                    /** @description The channel of the session; `web` if it is not said. */
                    channel?: "web" | "telegram" | "cli" | "mcp" | "acp" | "legacy";
                    sessionId: components["schemas"]["ConversationKey"];
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The workbook */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "sessionId": "k3yk3y8x",
                         *       "channel": "web",
                         *       "on": true,
                         *       "current": {
                         *         "title": "Move the blog to a new host",
                         *         "begunAt": "2026-03-01T12:00:00Z",
                         *         "documents": [
                         *           {
                         *             "which": "task_plan",
                         *             "version": 2,
                         *             "markdown": "# Move the blog to a new host\n",
                         *             "updatedAt": "2026-03-01T12:04:00Z",
                         *             "by": "rehearsal"
                         *           }
                         *         ]
                         *       },
                         *       "archives": []
                         *     }
                         */
                        "application/json": components["schemas"]["WorkbookView"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workbook/{document}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Write a document of the workbook
         * @description Replaces the whole text, at once, also while a turn is under way. The version says which text the person read: if it is not
         *     the newest one, nothing is changed and the refusal has the newest one in `document`.
         */
        put: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description Which of the three documents */
                    document: "task_plan" | "findings" | "progress";
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["WrittenDocument"];
                };
            };
            responses: {
                /** @description The document as it is now */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "which": "task_plan",
                         *       "version": 3,
                         *       "markdown": "# Move the blog to a new host\n",
                         *       "updatedAt": "2026-03-01T12:04:00Z",
                         *       "by": "person"
                         *     }
                         */
                        "application/json": components["schemas"]["DocumentView"];
                    };
                };
            };
        };
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description The act as it is signed. */
        Act: {
            digest: string;
            kind: components["schemas"]["ActKind"];
            subject: string;
        };
        /** @description What a passkey signs for exactly this act. */
        ActChallenge: {
            act: components["schemas"]["Act"];
            approver: string;
            /** Format: date-time */
            at: string;
            /** @description The hash of the canonical act, in base64url. */
            challenge: string;
            nonce: string;
            /** @description The passkeys that may sign it. */
            passkeys: components["schemas"]["Passkey"][];
        };
        /** @description A plan in a list of sessions. */
        ActivePlanView: {
            id: string;
            /** Format: int32 */
            number: number;
            /** @description How far its execution is, if it was begun. */
            progress?: components["schemas"]["Progress"];
            status: components["schemas"]["PlanStatus"];
            title: string;
        };
        /** @enum {string} */
        Activity: "running" | "paused" | "left_to_agent" | "asking";
        /** @enum {string} */
        ActKind: "resume" | "release" | "retry" | "skip" | "permit" | "promote" | "start_run" | "resume_run" | "add_schedule" | "resume_schedule" | "accept_tools";
        /** @description Each is `any`, `separate` or `verified`. */
        ActNeeds: {
            channel: components["schemas"]["Channel"];
            /** @description To let every session read a memory. */
            promotes: string;
            /** @description To start a run, to add a schedule, and to let one continue. */
            starts: string;
        };
        Actor: {
            kind: components["schemas"]["ActorKind"];
            name: string;
            presence?: components["schemas"]["Presence"] | null;
            /** @description The surface it came through, such as `cli` or `mcp`. */
            through: string;
        };
        /** @enum {string} */
        ActorKind: "person" | "agent" | "policy" | "system";
        /**
         * @description What is to be done, as the call that does it says it.
         * @example {
         *       "kind": "resume",
         *       "id": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11"
         *     }
         */
        ActToSign: {
            /**
             * Format: int32
             * @description For `release`: the step that the person looked at, from 1.
             */
            afterStep?: number | null;
            /** @description The approver who signs it; it may be left out if there is one. */
            approver?: string | null;
            /** @description For `permit`: what the call is to be made with instead of the arguments that were shown. */
            arguments?: Record<string, unknown> | null;
            channel?: components["schemas"]["Channel"] | null;
            digest?: components["schemas"]["Digest"] | null;
            /** @description For `start_run` and `add_schedule`. */
            goalId?: string | null;
            grant?: components["schemas"]["Grant"] | null;
            /** @description The id of the plan, run, schedule, memory or ask, or the name of the MCP server. */
            id?: string | null;
            kind: components["schemas"]["ActKind"];
            schedule?: components["schemas"]["ScheduleTerms"] | null;
            sessionId?: components["schemas"]["ConversationKey"] | null;
            /** @description For `start_run`. */
            taskId?: string | null;
        };
        /** @description A step, or words with some of the text around them, or nothing for the whole plan. */
        AnchorDraft: {
            prefix?: string | null;
            quote?: string | null;
            step?: components["schemas"]["StepId"] | null;
            suffix?: string | null;
        };
        /** @description A step, or words with some of the text around them, or nothing for the whole plan. */
        AnchorView: {
            prefix?: string;
            quote?: string;
            step?: string;
            suffix?: string;
        };
        Answered: {
            channel: components["schemas"]["Channel"];
            id: string;
            sessionId: string;
            /** @description What was written down, with the rule that `always` wrote. */
            words: string;
        };
        AnswerView: {
            /** @description What the agent asks a person before it continues. */
            ask?: components["schemas"]["Ask"];
            channel: components["schemas"]["Channel"];
            /** @description What was decided before the work that this is the answer to. */
            decided?: string;
            /** @description How the turn ended, or `done` if none was needed. */
            outcome: components["schemas"]["Outcome"];
            /** @description A plan that the person is shown with it. */
            plan?: components["schemas"]["PlanCard"];
            planId?: string;
            /** @description What the planner says, while a plan is built. */
            planner?: components["schemas"]["PlannerAnswer"];
            /** @description What the person reads, in Markdown. */
            reply: string;
            /** @description The session the person is in afterwards. */
            sessionId: string;
        };
        /**
         * @example {
         *       "digest": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
         *     }
         */
        Approval: {
            /** @description The approver who signs it; it may be left out if there is one. */
            approver?: string | null;
            channel?: components["schemas"]["Channel"] | null;
            /** @description The digest of the version that the person was shown. */
            digest: components["schemas"]["Digest"];
            /** @description Only approve; `resume` starts the work. */
            later?: boolean | null;
            note?: string | null;
            /** @description The positions of the steps to be done, from 1; the others are not. */
            only?: number[] | null;
            passkey?: components["schemas"]["PasskeyAnswer"] | null;
            /** @description The approver's passphrase. It is taken from this machine or over HTTPS only, and without an `Idempotency-Key`. */
            passphrase?: string | null;
            /** @description Whether the comments of the draft go with it, as notes. */
            review?: boolean | null;
            sessionId?: components["schemas"]["ConversationKey"] | null;
            /** @description The positions of the steps not to be done, from 1. */
            skip?: number[] | null;
            /** @description Pause after each step until a person has looked at it. */
            stepByStep?: boolean | null;
        };
        /** @description What the policy asks of an approval. */
        ApprovalNeedsView: {
            /**
             * Format: int32
             * @description How many different approvers have to sign.
             */
            people: number;
            /** @description `any`, `separate` or `verified`. */
            require: string;
        };
        ApprovalRule: {
            /** @description Every channel if absent. */
            channel?: string;
            /** Format: int32 */
            people: number;
            require: string;
            /** @description Every risk if absent. */
            risk?: string;
        };
        ApprovalView: {
            /** Format: date-time */
            at: string;
            by: string;
            digest: string;
            /** @description `person`, or `policy` for a standing rule. */
            given: string;
            note: string | null;
            /**
             * @description How the person was recognised: `verified`, `terminal`, `browser`, `token`, `channel` or `rule`. `null` if it was
             *     not recorded.
             */
            presence: string | null;
            /** @description How each of them signed. */
            signatures?: components["schemas"]["SignatureView"][];
            /** @description The approvers who signed it. */
            signedBy?: string[];
            skipped: components["schemas"]["SkippedView"][];
            /** @description Whether the execution pauses after each step for a person's look. */
            stepByStep: boolean;
            steps: string[];
            through: string;
            /**
             * Format: date-time
             * @description When it can no longer begin or continue work.
             */
            validUntil?: string;
        };
        ApprovedPlanView: components["schemas"]["PlanView"] & {
            /** @description Why the server does not carry the plan out now, although it was asked to. */
            notCarriedOut?: string;
        };
        Approver: {
            /** Format: date-time */
            enrolledAt: string;
            /** @description The Ed25519 key, in hexadecimal digits. */
            key: string;
            name: string;
            passkeys: components["schemas"]["Passkey"][];
        };
        Approvers: {
            approvers: components["schemas"]["Approver"][];
            /** @description What was changed about who may decide since a person looked last, the oldest first. */
            changes: components["schemas"]["RecordedChange"][];
            /** @description What acts that are no approval of a plan need, in the sessions of each channel. */
            needs: components["schemas"]["ActNeeds"][];
            /** @description How this client is recognised: `browser` if it was signed in with a link of `planwright dashboard`, else `token`. */
            presence: string;
            /**
             * Format: int64
             * @description For how many seconds a page of the dashboard does not ask for a passphrase again; 0 asks every time.
             */
            remember: number;
            /** @description What an approval needs where no rule says otherwise: `any`, `separate` or `verified`. */
            require: string;
            rules: components["schemas"]["ApprovalRule"][];
        };
        ArchiveView: {
            /** Format: date-time */
            at: string;
            name: string;
            title: string;
        };
        /** @description What a turn asks, in the answer to an input. */
        Ask: {
            call?: components["schemas"]["CallToPermit"];
            /** @description What an answer has to name. */
            digest: string;
            id: string;
            questions?: components["schemas"]["Question"][];
        };
        /**
         * Format: binary
         * @description The bytes of a file.
         */
        Binary: string;
        /**
         * @description The program that makes a recorded call once it is approved.
         * @enum {string}
         */
        CallRunner: "planwright" | "client";
        /** @description A call exactly as it runs once a person permits it. */
        CallToPermit: {
            /** @description What the answer `always` permits, as a sentence. Absent if it is not offered. */
            always?: string;
            arguments: Record<string, unknown>;
            /** @description What a person types in a chat to permit it: `/allow CODE`. */
            code: string;
            /** @description Why it is asked about. */
            reason: string;
            tool: string;
        };
        /** @description One change. Positions count from 1; the ids of steps do not matter to a person and are not compared. */
        Change: {
            from: components["schemas"]["PlanStyle"];
            /** @enum {string} */
            kind: "styleChanged";
            to: components["schemas"]["PlanStyle"];
        } | {
            from?: string | null;
            /** @enum {string} */
            kind: "titleChanged";
            to?: string | null;
        } | {
            from?: string | null;
            /** @enum {string} */
            kind: "goalChanged";
            to?: string | null;
        } | {
            from?: string | null;
            /** @enum {string} */
            kind: "summaryChanged";
            to?: string | null;
        } | {
            /** @enum {string} */
            kind: "headingAdded";
            /** Format: int32 */
            level: number;
            text: string;
        } | {
            /** @enum {string} */
            kind: "headingRemoved";
            /** Format: int32 */
            level: number;
            text: string;
        } | {
            /** @enum {string} */
            kind: "itemAdded";
            list: components["schemas"]["ListName"];
            text: string;
        } | {
            /** @enum {string} */
            kind: "itemRemoved";
            list: components["schemas"]["ListName"];
            text: string;
        } | {
            /** @enum {string} */
            kind: "itemsReordered";
            list: components["schemas"]["ListName"];
        } | {
            description: string;
            /** @enum {string} */
            kind: "stepRemoved";
            position: number;
        } | {
            description: string;
            /** @enum {string} */
            kind: "stepAdded";
            position: number;
        } | {
            from: string;
            /** @enum {string} */
            kind: "stepReworded";
            position: number;
            to: string;
        } | {
            field: components["schemas"]["StepField"];
            from?: string | null;
            /** @enum {string} */
            kind: "stepChanged";
            position: number;
            to?: string | null;
        } | {
            description: string;
            from: number;
            /** @enum {string} */
            kind: "stepMoved";
            to: number;
        } | {
            description: string;
            /** @enum {string} */
            kind: "stepTicked";
            position: number;
        } | {
            description: string;
            /** @enum {string} */
            kind: "stepUnticked";
            position: number;
        };
        ChangedPathsView: {
            added: string[];
            changed: string[];
            /** @description Whether nothing is missing here. */
            complete: boolean;
            removed: string[];
        };
        /** @enum {string} */
        Channel: "web" | "telegram" | "cli" | "mcp" | "acp" | "legacy";
        /** @description What a conversation changed outside of any plan. */
        ChatChangesView: {
            channel: components["schemas"]["Channel"];
            /** @description What is different now, one diff for each file, by path. Files that were put back are not among them. */
            files: components["schemas"]["FileDiffView"][];
            sessionId: string;
            /** @description The changes by turn, in order. */
            turns: components["schemas"]["TurnChangesView"][];
            /** @description What commands changed. It is not kept, so it cannot be undone. */
            uncovered: components["schemas"]["ChangedPathsView"];
            /** @description What people had put back, in order. */
            undone: components["schemas"]["UndoneView"][];
        };
        /** @description What a person can do. */
        Choice: {
            /** @description What a person types in a chat. Words in capitals stand for the person's own. */
            command: string;
            /** @description What it does, on a button or in a list. */
            label: string;
            name: string;
        };
        Client: {
            /** Format: date-time */
            createdAt: string;
            /** @description Whether it sent this request. */
            current: boolean;
            id: string;
            kind: components["schemas"]["ClientKind"];
            /** Format: date-time */
            lastSeenAt: string;
            /** @description What the browser says that it is: `Firefox on Linux`. */
            name: string;
        };
        /** @enum {string} */
        ClientKind: "browser" | "linked_browser";
        Clients: {
            /** @description The one that was seen last first. */
            clients: components["schemas"]["Client"][];
        };
        Command: {
            example: string;
            /** @description Under what help lists it. */
            group: string;
            help: string;
            /** @description With its slash: `/plan approve`. */
            name: string;
            /** @description The name and what may follow it. */
            usage: string;
        };
        Commands: {
            commands: components["schemas"]["Command"][];
        };
        CommentDraft: {
            anchor: components["schemas"]["AnchorDraft"];
            /** @description The client makes it up; it is unique within the review. */
            id: components["schemas"]["CommentId"];
            kind: components["schemas"]["CommentKind"];
            /** @description The new words for `replace`; may be left out for `strike`. */
            text?: string;
        };
        /** @description One comment of a review, unique in the review. */
        CommentId: string;
        /** @enum {string} */
        CommentKind: "comment" | "replace" | "strike";
        /**
         * @example {
         *       "comment": "c1",
         *       "resolved": true
         *     }
         */
        CommentResolution: {
            /** @description A comment that was sent. */
            comment: components["schemas"]["CommentId"];
            resolved: boolean;
        };
        /**
         * @description What became of a comment in a later version.
         * @enum {string}
         */
        CommentState: "open" | "addressed" | "orphaned";
        CommentView: {
            anchor: components["schemas"]["AnchorView"];
            /** @description What the agent said about it. */
            answer?: string;
            id: string;
            kind: components["schemas"]["CommentKind"];
            /** @description Whether the person is satisfied with what became of it. */
            resolved?: boolean;
            /** @description What became of it, if the plan has a newer version than the one it is about. */
            state?: components["schemas"]["CommentState"];
            text: string;
        };
        ConversationKey: string;
        /** @description How many steps are in each status. */
        Counts: {
            done: number;
            failed: number;
            inProgress: number;
            notBegun: number;
            skipped: number;
            total: number;
            uncertain: number;
        };
        CurrentView: {
            /** Format: date-time */
            begunAt: string;
            documents: components["schemas"]["DocumentView"][];
            title: string;
        };
        /** @description A row that cannot be read. It never hides the others. */
        DamagedView: {
            reason: string;
            what: string;
        };
        DecisionView: {
            /** Format: date-time */
            at: string;
            by: string;
            decision: string;
            digest?: string;
            /** @description `person`, or `policy` for a standing rule. */
            given: string;
            /** @description The note, the reason or what is to be changed. */
            note: string | null;
            /**
             * @description How the person was recognised: `verified`, `terminal`, `browser`, `token`, `channel` or `rule`. `null` if it was
             *     not recorded.
             */
            presence: string | null;
            /** Format: int64 */
            seq: number;
            /** @description The signatures on an approval so far. */
            signatures?: components["schemas"]["SignatureView"][];
            skipped?: components["schemas"]["SkippedView"][];
            /** @description The new status of a step whose result was unknown. */
            status?: components["schemas"]["StepStatus"];
            /** @description The positions of the steps it is about, from 1. */
            steps?: number[];
            through: string;
        };
        /** @description Numbers count from 1. `from` is a line of the older text, `to` one of the newer. */
        DiffLine: {
            from: number;
            /** @enum {string} */
            mark: "same";
            text: string;
            to: number;
        } | {
            from: number;
            /** @enum {string} */
            mark: "removed";
            pieces: components["schemas"]["Piece"][];
            /** @description The last line of a text may lack its end. */
            unended?: boolean;
        } | {
            /** @enum {string} */
            mark: "added";
            pieces: components["schemas"]["Piece"][];
            to: number;
            unended?: boolean;
        } | {
            lines: number;
            /** @enum {string} */
            mark: "gap";
        };
        Digest: string;
        DocumentView: {
            /** @description Who wrote this version. */
            by: string;
            markdown: string;
            /** Format: date-time */
            updatedAt: string;
            /** Format: int32 */
            version: number;
            /** @description `task_plan`, `findings` or `progress` */
            which: string;
        };
        /**
         * @example {
         *       "sessionId": "k3yk3y8x",
         *       "style": "document"
         *     }
         */
        Enabling: {
            channel?: components["schemas"]["Channel"] | null;
            sessionId: components["schemas"]["ConversationKey"];
            style?: components["schemas"]["PlanStyle"] | null;
        };
        /** @description A plan that ended, in a list over all sessions. */
        EndedPlan: components["schemas"]["PlanSummaryView"] & {
            channel: components["schemas"]["Channel"];
            sessionId: string;
        };
        EnrolledView: {
            /** @description It sets a new passphrase. It is shown now and never again. */
            recoveryCode: string;
        };
        EntryView: {
            /** Format: date-time */
            at: string;
            by: components["schemas"]["Actor"];
            /** @description What happened, as it is stored. */
            event: Record<string, unknown>;
            /** @description SHA-256 over the entry and the hash of the one before it. */
            hash: string;
            /** @description The plan that it is about. */
            planId?: string;
            /** Format: int64 */
            seq: number;
            type: string;
        };
        ExecutionView: {
            /** @description The step that the person looks at, from 1. `resume` takes it as `afterStep`. */
            afterStep?: number;
            counts: components["schemas"]["Counts"];
            /** Format: date-time */
            finishedAt: string | null;
            finishedBy?: components["schemas"]["Actor"];
            id: string;
            /**
             * Format: int32
             * @description Among the executions of the plan, from 1.
             */
            number: number;
            /** @description What it waits for. */
            pausedFor?: components["schemas"]["PausedFor"];
            /**
             * Format: date-time
             * @description Since when it waits for a person.
             */
            pausedSince?: string;
            /** @description How the calls were permitted that were made for it. */
            permissions: components["schemas"]["PermissionCounts"];
            /** @description What the turns cost that were made for it. It is told with the history of a plan. */
            spend?: components["schemas"]["WorkSpend"];
            /** Format: date-time */
            startedAt: string;
            startedBy?: components["schemas"]["Actor"];
            /** @description How it ended; it has not while this is missing. */
            status?: components["schemas"]["PlanStatus"];
            steps?: components["schemas"]["StepRunView"][];
            /** Format: int64 */
            tookMs: number | null;
        };
        /**
         * @example {
         *       "feedback": "use a view"
         *     }
         */
        Feedback: {
            channel?: components["schemas"]["Channel"] | null;
            /** @description What is to be changed. It may be left out if comments go with it. */
            feedback?: string;
            /** @description Whether the comments of the draft go with it. */
            review?: boolean | null;
            sessionId?: components["schemas"]["ConversationKey"] | null;
        };
        FileDiffView: {
            addedLines: number;
            /** @description A unified diff in the form of `git diff`. */
            diff: string;
            path: string;
            removedLines: number;
            /** @description The diff was cut because it was too long. */
            truncated: boolean;
            /** @description The project folder; `null` is the session's own folder. */
            workspace: string | null;
        };
        Goal: {
            /** Format: date-time */
            addedAt: string;
            /** Format: date-time */
            changedAt: string;
            /** @description Of its words and of those of the task that a run of it begins with. A person who starts one signs it. */
            digest?: string;
            id: components["schemas"]["GoalId"];
            note: string | null;
            /**
             * Format: int32
             * @description Its number in the session.
             */
            number: number;
            status: components["schemas"]["GoalStatus"];
            title: string;
        };
        /**
         * @example {
         *       "status": "done"
         *     }
         */
        GoalChange: {
            note?: string | null;
            status: components["schemas"]["GoalStatus"];
        };
        /** @description One goal of a session. */
        GoalId: string;
        Goals: {
            items: components["schemas"]["Goal"][];
        };
        /** @enum {string} */
        GoalStatus: "active" | "paused" | "done" | "cancelled";
        /**
         * @description How far a permission reaches.
         * @enum {string}
         */
        Grant: "once" | "plan" | "always" | "no";
        Inbox: {
            damaged?: components["schemas"]["DamagedView"][];
            items: components["schemas"]["WaitingView"][];
            /**
             * Format: int64
             * @description Where the next page begins, if there is one.
             */
            next: number | null;
        };
        /** @description One or more people approved, and others have to, too. */
        IncompleteApprovalView: components["schemas"]["ApprovalView"] & {
            /** @description How many of them are missing. */
            missing: number;
            /** @description The approvers who can still sign. */
            others: string[];
            /**
             * Format: int32
             * @description How many different approvers have to sign.
             */
            people: number;
            /** @description What is missing, as a sentence. */
            words: string;
        };
        JournalPage: {
            channel: components["schemas"]["Channel"];
            damaged?: components["schemas"]["DamagedView"][];
            entries: components["schemas"]["EntryView"][];
            /**
             * Format: int64
             * @description The entry after which the next page begins, or before which it begins if the newest come first; `null` on the last
             *     page.
             */
            next: number | null;
            sessionId: string;
        };
        /**
         * @example {
         *       "sessionId": "k3yk3y8x"
         *     }
         */
        Leaving: {
            channel?: components["schemas"]["Channel"] | null;
            sessionId: components["schemas"]["ConversationKey"];
        };
        /** @enum {string} */
        ListName: "assumptions" | "risks" | "verification" | "files";
        McpServer: {
            /** @description How many tools a person accepted. */
            accepted: number;
            connection: components["schemas"]["McpServerConnection"];
            /**
             * @description Everything that an acceptance covers and that was not accepted before, as text: new and changed tools whole, with hidden
             *     characters written out.
             */
            difference?: string;
            /** @description What an acceptance has to name. Absent if there is nothing to accept. */
            digest?: string;
            name: string;
            /** @description Why the last connection failed. */
            problem?: string;
            /** @description The command or the address, without secrets. */
            reachedBy: string;
            /** Format: date-time */
            since?: string;
            state: components["schemas"]["McpServerState"];
            /** @description How many tools the agent is offered. */
            tools: number;
        };
        /** @enum {string} */
        McpServerConnection: "not_started" | "connected" | "failed";
        McpServers: {
            servers: components["schemas"]["McpServer"][];
        };
        /** @enum {string} */
        McpServerState: "not_accepted" | "accepted" | "changed";
        Memories: {
            /** @description Whether the session has a change of its memory that `/memory undo` takes back. */
            canUndo: boolean;
            damaged?: components["schemas"]["DamagedView"][];
            /** @description The best first, or in a list the newest first. */
            items: components["schemas"]["Memory"][];
            /**
             * Format: int64
             * @description Where the next page of a list begins, if there is one.
             */
            next: number | null;
            /** @description Why the search did without the embedding model that is configured. */
            note?: string;
        };
        Memory: {
            /** Format: date-time */
            at: string;
            /** @description Who wrote it. */
            author: components["schemas"]["Actor"];
            content: string;
            /** @description Of its text. A person who lets every session read it signs it. */
            digest?: string;
            /**
             * Format: date-time
             * @description From then on it is not found any more.
             */
            expiresAt?: string;
            id: components["schemas"]["MemoryId"];
            kind: components["schemas"]["MemoryKind"];
            /** @description Where it was learnt, if that was elsewhere. */
            origin?: components["schemas"]["MemoryOrigin"];
            /** @description `global`, `session:CHANNEL:KEY`, `goal:CHANNEL:KEY:GOAL` or `task:TASK` */
            scope: string;
            /**
             * Format: double
             * @description How well it answers the question; 0 in a list.
             */
            score: number;
            /** @description The share of each factor in the score, if that was asked for. */
            shares?: components["schemas"]["MemoryShare"][];
            source: components["schemas"]["MemorySource"];
            tags: string[];
            trust: components["schemas"]["MemoryTrust"];
        };
        /** @description One memory item, unique in the whole store. */
        MemoryId: string;
        /**
         * @description What is remembered. The kind decides the scope that an item is written to.
         * @enum {string}
         */
        MemoryKind: "fact" | "preference" | "decision" | "constraint" | "result";
        /** @description What a rule offers to be remembered. */
        MemoryOffer: {
            /** Format: date-time */
            at: string;
            content: string;
            /** @description The id that the memory has once it is accepted. */
            id: components["schemas"]["MemoryId"];
            kind: components["schemas"]["MemoryKind"];
            /** @description Where it is written. */
            scope: string;
            source: components["schemas"]["MemorySource"];
        };
        MemoryOffers: {
            /** @description The newest first. */
            items: components["schemas"]["MemoryOffer"][];
        };
        /** @description Who said something elsewhere, when, and in which context. It is a claim of the person or agent that saved it. */
        MemoryOrigin: {
            /** Format: date-time */
            at?: string;
            author?: string;
            /** @description What it was said in or about. */
            context?: string;
        };
        MemoryShare: {
            /** @description `text`, `before`, `after`, `answer`, `author`, `sitting`, `date`, `recency`, `scope` or `meaning` */
            factor: string;
            /** Format: double */
            share: number;
        };
        /** @description Where a memory came from. */
        MemorySource: {
            /** @description `person`, `turn`, `tool`, `plan`, `workbook`, `diary` or `promotion` */
            from: string;
            /** @description The person who promoted it. */
            promotedBy?: string;
            /** @description The session that it was promoted from. */
            session?: string;
        };
        /**
         * @description How far an item can be trusted, by who wrote it.
         * @enum {string}
         */
        MemoryTrust: "person" | "agent" | "system";
        MessageCallView: {
            /** @description As the model wrote them, usually a JSON object. At most 4 KiB of them. */
            arguments: string;
            /** @description Whether there is more of them; the journal has them all. */
            argumentsCut?: boolean;
            name: string;
            /** @description Missing while it has not ended. */
            status?: components["schemas"]["ToolStatus"];
        };
        MessagePage: {
            channel: components["schemas"]["Channel"];
            /** @description Entries on this page that cannot be read. */
            damaged?: components["schemas"]["DamagedView"][];
            /** @description In order. */
            messages: components["schemas"]["MessageView"][];
            /**
             * Format: int64
             * @description Before which entry the page of older ones ends, if there is one.
             */
            next: number | null;
            sessionId: string;
        };
        /** @enum {string} */
        MessageRole: "person" | "agent" | "tool" | "note";
        MessageView: {
            /** Format: date-time */
            at: string;
            by: components["schemas"]["Actor"];
            /** @description The calls that the agent made with it. */
            calls?: components["schemas"]["MessageCallView"][];
            /** @description How the turn ended, if this is about its end. */
            outcome?: string;
            /** @description The plan that it shows or is about. */
            planId?: string;
            role: components["schemas"]["MessageRole"];
            /** @description The run whose turn it was said in, or whose result it is. */
            runId?: string;
            /**
             * Format: int64
             * @description Its number in the journal.
             */
            seq: number;
            /** @description The outcome of the call. */
            status?: components["schemas"]["ToolStatus"];
            /** @description In Markdown. */
            text: string;
            /**
             * Format: int64
             * @description How long the call took, in milliseconds.
             */
            tookMs?: number;
            /** @description The tool whose result this is. */
            tool?: string;
        };
        /**
         * @example {
         *       "name": "ada",
         *       "passphrase": "correct horse"
         *     }
         */
        NewApprover: {
            name: string;
            /** @description It is taken from this machine or over HTTPS only. */
            passphrase: string;
        };
        /**
         * @description The channels in which sessions can be created.
         * @enum {string}
         */
        NewChannel: "web" | "telegram" | "cli" | "mcp";
        /**
         * @example {
         *       "sessionId": "k3yk3y8x",
         *       "title": "No open warnings"
         *     }
         */
        NewGoal: {
            channel?: components["schemas"]["Channel"] | null;
            sessionId: components["schemas"]["ConversationKey"];
            title: string;
        };
        /**
         * @example {
         *       "sessionId": "k3yk3y8x",
         *       "content": "The person prefers tabs."
         *     }
         */
        NewMemory: {
            /**
             * @description When it was said there: `2026-05-07` or `2026-05-07T13:56:00Z`. If neither `author` nor `at` is given, both are read from the
             *     beginning of a text such as `Ada (7 May 2026): …`.
             */
            at?: string | null;
            /** @description Who said it, if it was learnt elsewhere. */
            author?: string | null;
            channel?: components["schemas"]["Channel"] | null;
            content: string;
            /** @description What it was said in or about. Its words lead to the memory. */
            context?: string | null;
            kind?: components["schemas"]["MemoryKind"] | null;
            /** @description The session if it is not said. Nothing is saved as `global` directly. */
            scope?: string | null;
            sessionId: components["schemas"]["ConversationKey"];
            tags?: string[];
        };
        /**
         * @example {
         *       "text": "move the blog to a new host"
         *     }
         */
        NewMessage: {
            channel?: components["schemas"]["Channel"] | null;
            /** @description A message for the agent, or a command with a slash. At most 256 KiB. */
            text: string;
        };
        /**
         * @example {
         *       "label": "laptop",
         *       "passphrase": "correct horse",
         *       "credential": "AQ",
         *       "clientData": "{}",
         *       "authenticatorData": "AQ",
         *       "publicKey": "AQ"
         *     }
         */
        NewPasskey: {
            /** @description In base64url. */
            authenticatorData: string;
            /** @description The browser's `clientDataJSON`, as text. */
            clientData: string;
            /** @description The credential's id, in base64url. */
            credential: string;
            /** @description What the person calls it. */
            label: string;
            /** @description The approver's passphrase. It is taken from this machine or over HTTPS only. */
            passphrase: string;
            /** @description The public key as the browser exports it, in base64url. */
            publicKey: string;
        };
        /**
         * @example {
         *       "sessionId": "k3yk3y8x",
         *       "goalId": "1"
         *     }
         */
        NewRun: {
            /** @description The approver who starts it, where the policy asks for a verified person; it may be left out if there is one. */
            approver?: string | null;
            channel?: components["schemas"]["Channel"] | null;
            digest?: components["schemas"]["Digest"] | null;
            /** @description The id or number of a goal: a `GOAL_RUN` on its first open task. */
            goalId?: string | null;
            passkey?: components["schemas"]["SignedAct"] | null;
            /** @description The approver's passphrase. It is taken from this machine or over HTTPS only, and without an `Idempotency-Key`. */
            passphrase?: string | null;
            sessionId: components["schemas"]["ConversationKey"];
            /**
             * @description The id or number of a task. Without goal and task the session's first active goal is worked towards, else its first
             *     open task.
             */
            taskId?: string | null;
        };
        /**
         * @example {
         *       "sessionId": "k3yk3y8x",
         *       "cron": "0 9 * * 1",
         *       "timeZone": "Europe/Berlin",
         *       "title": "Read the news"
         *     }
         */
        NewSchedule: {
            /** @description The approver who makes it, where the policy asks for a verified person; it may be left out if there is one. */
            approver?: string | null;
            channel?: components["schemas"]["Channel"] | null;
            /** @description Five fields: minute, hour, day of the month, month, day of the week. */
            cron: string;
            /** @description The id or number of the goal that the task belongs to. */
            goalId?: string | null;
            /** Format: int32 */
            maxExecutions?: number | null;
            passkey?: components["schemas"]["SignedAct"] | null;
            /** @description The approver's passphrase. It is taken from this machine or over HTTPS only, and without an `Idempotency-Key`. */
            passphrase?: string | null;
            sessionId: components["schemas"]["ConversationKey"];
            /** @description A name such as `Europe/Berlin`; UTC if it is not said. */
            timeZone?: string | null;
            /** @description What is done each time. */
            title: string;
        };
        /**
         * @example {
         *       "sessionId": "my-project"
         *     }
         */
        NewSession: {
            channel?: components["schemas"]["NewChannel"] | null;
            /** @description The key of the session; one is made if it is absent. */
            sessionId?: string | null;
            /**
             * @description The absolute path of the project folder that the file tools work in. It has to lie below a folder of the setting
             *     `projects.allow`. The session's own folder if it is absent.
             */
            workspace?: string | null;
        };
        /**
         * @example {
         *       "sessionId": "k3yk3y8x",
         *       "title": "Renew the certificate"
         *     }
         */
        NewTask: {
            channel?: components["schemas"]["Channel"] | null;
            /** @description The id or number of the goal that it belongs to. */
            goalId?: string | null;
            sessionId: components["schemas"]["ConversationKey"];
            title: string;
        };
        NextStep: {
            description: string;
            step: number;
        };
        Notifications: {
            items: components["schemas"]["UndeliveredNotification"][];
        };
        NotUndoneView: {
            path: string;
            /** @description A sentence for people. */
            why: string;
            workspace: string | null;
        };
        /** @enum {string} */
        Outcome: "done" | "waits_for_person" | "answered" | "plan_ready" | "nothing_planned" | "stopped" | "limit_reached" | "looping" | "no_answer" | "model_failed" | "interrupted";
        Passkey: {
            /** Format: date-time */
            addedAt: string;
            /** @description The credential's id, in base64url. */
            id: string;
            label: string;
            /** @description The page that it works on: scheme, host and port. Absent for passkeys of earlier versions. */
            origin?: string;
            /** @description The host name that it works for. */
            relyingParty: string;
        };
        /** @description The answer of a passkey to a challenge. The texts but `clientData` are in base64url. */
        PasskeyAnswer: {
            /** @description From the challenge. */
            approver: string;
            authenticatorData: string;
            /** @description The browser's `clientDataJSON`, as text. */
            clientData: string;
            credential: string;
            /** @description From the challenge. */
            nonce: string;
            /**
             * Format: int64
             * @description From the challenge.
             */
            seq: number;
            signature: string;
            /**
             * Format: date-time
             * @description From the challenge.
             */
            validUntil?: string | null;
        };
        /** @description What a passkey signs to approve exactly this. */
        PasskeyChallenge: {
            approver: string;
            /** @description The hash of the canonical approval, in base64url. */
            challenge: string;
            nonce: string;
            /** @description The passkeys that may sign it. */
            passkeys: components["schemas"]["Passkey"][];
            /** Format: int64 */
            seq: number;
            /** Format: date-time */
            validUntil: string | null;
        };
        /**
         * @example {
         *       "passphrase": "correct horse"
         *     }
         */
        PasskeyRemoval: {
            /** @description The approver who confirms it; the owner of the passkey if it is not said. */
            approver?: string | null;
            /** @description The passphrase of the approver who confirms it. */
            passphrase: string;
        };
        PastDocument: {
            /** Format: int32 */
            version: number;
            /** @description `task_plan`, `findings` or `progress` */
            which: string;
        };
        PastPlan: {
            /** Format: int32 */
            number: number;
            planId: string;
            status: components["schemas"]["PlanStatus"];
            style: components["schemas"]["PlanStyle"];
            title: string;
            /** Format: date-time */
            updatedAt: string;
            /** Format: int32 */
            version: number;
        };
        PastState: {
            /** @description The plan that the session worked on. */
            activePlanId: string | null;
            /**
             * Format: date-time
             * @description The time of that entry; `null` if no entry up to it can be read.
             */
            at: string | null;
            channel: components["schemas"]["Channel"];
            /** @description Entries that cannot be read. What they did is missing here. */
            damaged?: components["schemas"]["DamagedView"][];
            goals: components["schemas"]["Goal"][];
            mode: components["schemas"]["SessionMode"];
            /** @description Every plan that was made by then, by number. */
            plans: components["schemas"]["PastPlan"][];
            runs: components["schemas"]["Run"][];
            schedules: components["schemas"]["Schedule"][];
            /**
             * Format: int64
             * @description The last entry of the journal that had happened.
             */
            seq: number;
            sessionId: string;
            /** @description The style of plan work; the one that it had last while `mode` is `chat`. */
            style: components["schemas"]["PlanStyle"];
            tasks: components["schemas"]["Task"][];
            /** @description The name that a person had given it. */
            title: string | null;
            /** @description The first words that were said. */
            topic: string | null;
            workbook: components["schemas"]["PastWorkbook"] | null;
            /** @description Whether a turn was under way. */
            working: boolean;
            /** @description The project folder that the file tools worked in; `null` is the session's own folder. */
            workspace: string | null;
        };
        PastWorkbook: {
            /** Format: date-time */
            begunAt: string;
            documents: components["schemas"]["PastDocument"][];
            title: string;
        };
        /**
         * @description What a paused execution waits for.
         * @enum {string}
         */
        PausedFor: "step" | "person";
        /**
         * @example {
         *       "digest": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
         *       "grant": "once"
         *     }
         */
        PermissionAnswer: {
            /** @description The approver who permits it; it may be left out if there is one. */
            approver?: string | null;
            /**
             * @description What the call is to be made with instead of the arguments that were shown. Only with `once`; it is recorded with the
             *     answer, and the agent is told.
             */
            arguments?: Record<string, unknown> | null;
            channel?: components["schemas"]["Channel"] | null;
            /** @description The digest of the call that the person was shown. */
            digest: components["schemas"]["Digest"];
            grant: components["schemas"]["Grant"];
            passkey?: components["schemas"]["SignedAct"] | null;
            /**
             * @description The approver's passphrase, where the policy asks for a verified person. It is taken from this machine or over HTTPS
             *     only, and without an `Idempotency-Key`.
             */
            passphrase?: string | null;
            sessionId?: components["schemas"]["ConversationKey"] | null;
            /** @description What the person says to the agent about it. */
            words?: string | null;
        };
        /** @description How many calls the approved plan covered, a person was asked about, and were refused. */
        PermissionCounts: {
            /** Format: int32 */
            asked: number;
            /** Format: int32 */
            covered: number;
            /** Format: int32 */
            refused: number;
        };
        /** @description A part of a changed line; together the pieces are the line. */
        Piece: {
            /** @description What is different from the line it replaces or that replaces it. */
            emphasized?: boolean;
            text: string;
        };
        /** @description A plan as it is put before a person. */
        PlanCard: {
            approval: components["schemas"]["ApprovalView"] | null;
            digest: string;
            /** @description An approval that waits for more people. */
            incompleteApproval?: components["schemas"]["IncompleteApprovalView"];
            markdown: string;
            /** @description What can be typed about it now. */
            next: string[];
            /** Format: int32 */
            number: number;
            planId: string;
            progress: components["schemas"]["Progress"] | null;
            status: components["schemas"]["PlanStatus"];
            style: components["schemas"]["PlanStyle"];
            title: string;
            /** Format: int32 */
            version: number;
        };
        PlanChangesView: {
            channel: components["schemas"]["Channel"];
            /** @description What is different now, one diff for each file, by path. Files that were put back are not among them. */
            files: components["schemas"]["FileDiffView"][];
            /** Format: int32 */
            number: number;
            planId: string;
            sessionId: string;
            /** @description Only this step, from 1. */
            step: number | null;
            /** @description The changes by step. */
            steps: components["schemas"]["StepChangesView"][];
            /** @description What commands changed. It is not kept, so it cannot be undone. */
            uncovered: components["schemas"]["ChangedPathsView"];
            /** @description What people had put back, in order. */
            undone: components["schemas"]["UndoneView"][];
        };
        PlanDiff: {
            changes: components["schemas"]["Change"][];
            /** @description The text of a document line by line; empty for the other styles, and where the text is the same. */
            lines: components["schemas"]["DiffLine"][];
        };
        PlanHistory: {
            channel: components["schemas"]["Channel"];
            /** @description Entries that cannot be read. What happened after the first of them is not listed. */
            damaged?: components["schemas"]["DamagedView"][];
            decisions: components["schemas"]["DecisionView"][];
            /** @description The latest last. */
            executions: components["schemas"]["ExecutionView"][];
            /** Format: int32 */
            number: number;
            planId: string;
            sessionId: string;
            versions: components["schemas"]["VersionView"][];
        };
        /** @description One plan, unique in the whole store. */
        PlanId: string;
        PlanList: {
            channel: components["schemas"]["Channel"];
            damaged?: components["schemas"]["DamagedView"][];
            /**
             * Format: int64
             * @description Where the next page begins, if there is one.
             */
            next: number | null;
            planMode: components["schemas"]["PlanModeView"];
            /** @description The newest first. */
            plans: components["schemas"]["PlanSummaryView"][];
            sessionId: string;
        };
        PlanModeView: {
            activePlanId: string | null;
            enabled: boolean;
            style: components["schemas"]["PlanStyle"];
            /** Format: date-time */
            updatedAt: string;
        };
        /**
         * @description How far a plan is, in the planner's words.
         * @enum {string}
         */
        PlannedAs: "draft" | "proposal";
        PlannerAnswer: {
            text: string;
            /** @enum {string} */
            type: "answer";
        } | {
            plan_id: components["schemas"]["PlanId"];
            status: components["schemas"]["PlannedAs"];
            /** @enum {string} */
            type: "plan";
        } | {
            message: string;
            /** @enum {string} */
            type: "failure";
        } | {
            message: string;
            /** @enum {string} */
            type: "interruption";
        };
        PlanPreview: {
            /** @description The steps that write, edit, delete or move a file, in order. */
            steps: components["schemas"]["StepPreview"][];
        };
        /** @enum {string} */
        PlanStatus: "COLLECTING" | "READY" | "APPROVED" | "EXECUTING" | "COMPLETED" | "PARTIALLY_COMPLETED" | "REJECTED" | "CANCELLED" | "SUPERSEDED";
        /** @enum {string} */
        PlanStyle: "document" | "collect" | "build";
        PlanSummaryView: {
            id: string;
            /** Format: int32 */
            number: number;
            status: components["schemas"]["PlanStatus"];
            style: components["schemas"]["PlanStyle"];
            title: string;
            /** Format: date-time */
            updatedAt: string;
        };
        PlanView: {
            /** @description The choices with their labels and commands. */
            actions: components["schemas"]["Choice"][];
            /** @description What happens with an `EXECUTING` plan at this moment; only where a single plan is shown. */
            activity?: components["schemas"]["Activity"];
            approval: components["schemas"]["ApprovalView"] | null;
            /** @description What its turn asks a person before it continues. */
            askId?: string;
            channel: string;
            /** @description What a person can do now. */
            choices: string[];
            /** @description The shell lines that a document's approval covers, in the order of its text. Other plans have theirs in the steps. */
            commands?: string[];
            /** Format: date-time */
            createdAt: string;
            details?: Record<string, unknown>;
            digest: string;
            endedBecause: string | null;
            execution: components["schemas"]["ExecutionView"] | null;
            feedback: string | null;
            id: string;
            /** @description An approval that waits for more people. */
            incompleteApproval?: components["schemas"]["IncompleteApprovalView"];
            /** @description The plan as one text: what a person approves. */
            markdown: string;
            /** @description What an approval of it needs; only where a single plan is shown. */
            needs?: components["schemas"]["ApprovalNeedsView"];
            /** Format: int32 */
            number: number;
            progress: components["schemas"]["Progress"] | null;
            sessionId: string;
            /** @description What it waits for or does now, in a sentence. */
            situation: string;
            status: components["schemas"]["PlanStatus"];
            steps: components["schemas"]["StepView"][];
            style: components["schemas"]["PlanStyle"];
            supersededBy: string | null;
            supersedes: string | null;
            title: string;
            /** Format: date-time */
            updatedAt: string;
            /** Format: int32 */
            version: number;
        };
        PlanWork: {
            channel: components["schemas"]["Channel"];
            planMode: components["schemas"]["PlanModeView"];
            sessionId: string;
        };
        /** @description How a person was recognised. It is recorded with every decision. */
        Presence: {
            approver: string;
            /** @enum {string} */
            kind: "verified";
            /** @description Their signature on the act. An approval of a plan has a signature of its own. */
            signed?: Record<string, unknown>;
        } | {
            /** @enum {string} */
            kind: "terminal";
        } | {
            /** @enum {string} */
            kind: "none";
        } | {
            /** @enum {string} */
            kind: "token";
        } | {
            /** @enum {string} */
            kind: "browser";
        } | {
            /** @description The approver who bound this user with a signed record. */
            bound_by?: string;
            /** @enum {string} */
            kind: "channel";
        } | {
            /** @enum {string} */
            kind: "rule";
        };
        /**
         * @description Why a request was refused.
         * @example {
         *       "title": "Not found",
         *       "status": 404,
         *       "code": "NOT_FOUND",
         *       "detail": "There is no plan 'abcdefgh' here."
         *     }
         */
        Problem: {
            code: components["schemas"]["RefusalCode"];
            /** @description For people. */
            detail: string;
            /** @description The newest version of a document, if the request was made from an older one. */
            document?: Record<string, unknown>;
            /** @description Every invalid value, where there can be several. */
            errors?: components["schemas"]["ProblemDetail"][];
            /** @description The current plan, where that helps. */
            plan?: Record<string, unknown>;
            /** Format: int32 */
            status: number;
            title: string;
        };
        /** @description One thing that is wrong, and where: `path` is a JSON pointer such as `/steps/2/agent`. */
        ProblemDetail: {
            message: string;
            path: string;
        };
        /** @description How far an execution has come. */
        Progress: {
            done: number;
            next: components["schemas"]["NextStep"] | null;
            total: number;
        };
        /**
         * @description How an approver is recognised in a request, where the policy asks for a verified person.
         * @example {
         *       "approver": "ada",
         *       "passphrase": "correct horse"
         *     }
         */
        Proof: {
            /** @description The approver; it may be left out if there is one. */
            approver?: string | null;
            digest?: components["schemas"]["Digest"] | null;
            passkey?: components["schemas"]["SignedAct"] | null;
            /** @description The approver's passphrase. It is taken from this machine or over HTTPS only, and without an `Idempotency-Key`. */
            passphrase?: string | null;
        };
        Push: {
            /** @description What a browser subscribes with (`applicationServerKey`), in base64url. */
            publicKey: string;
            subscriptions: components["schemas"]["PushSubscription"][];
        };
        PushKeys: {
            /** @description 16 bytes, in base64url. */
            auth: string;
            /** @description The browser's public key, in base64url. */
            p256dh: string;
        };
        PushSubscription: {
            /** @description Whether it sent this request. */
            current: boolean;
            id: string;
            /** @description What the browser says that it is: `Chrome on Android`. */
            name: string;
            /** Format: date-time */
            sinceAt: string;
        };
        /**
         * @description What `PushSubscription.toJSON` has in a browser.
         * @example {
         *       "endpoint": "https://push.example.org/send/5f0c1d2e",
         *       "keys": {
         *         "p256dh": "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
         *         "auth": "BTBZMqHH6r4Tts7J_aSIgg"
         *       }
         *     }
         */
        PushSubscriptionToAdd: {
            /** @description The address of the push service, which names the browser. */
            endpoint: string;
            keys: components["schemas"]["PushKeys"];
        };
        Question: {
            /** @description Answers to choose from; a person may answer in other words. */
            choices: string[];
            /** @description Whether several choices may be taken. */
            many: boolean;
            text: string;
        };
        /**
         * @example {
         *       "digest": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
         *       "answers": [
         *         "blue"
         *       ]
         *     }
         */
        QuestionAnswers: {
            /** @description One for each question, in their order. */
            answers: string[];
            channel?: components["schemas"]["Channel"] | null;
            /** @description The digest of the questions that the person was shown. */
            digest: components["schemas"]["Digest"];
            sessionId?: components["schemas"]["ConversationKey"] | null;
        };
        /**
         * @example {
         *       "reason": "too risky"
         *     }
         */
        Reason: {
            channel?: components["schemas"]["Channel"] | null;
            reason?: string | null;
            sessionId?: components["schemas"]["ConversationKey"] | null;
        };
        ReceivedFile: {
            bytes: number;
            /** @description The path that the agent reads it by. */
            path: string;
        };
        RecentPlans: {
            damaged?: components["schemas"]["DamagedView"][];
            /**
             * Format: int64
             * @description Where the next page begins, if there is one.
             */
            next: number | null;
            /** @description The one that ended last comes first. */
            plans: components["schemas"]["EndedPlan"][];
        };
        /** @description Such as a weaker policy, a new approver or a browser that was signed in. */
        RecordedChange: {
            /** Format: date-time */
            at: string;
            /** @description Who did it, and through what. */
            by: string;
            /** @description How they were recognised. */
            recognised: string;
            /** @description Whether less is asked of an approval since. */
            weakens: boolean;
            what: string;
        };
        /**
         * @description The codes that programs rely on. They are part of the public contract.
         * @enum {string}
         */
        RefusalCode: "POLICY_DENIED" | "INVALID_ARGUMENT" | "NOT_FOUND" | "WRONG_STATUS" | "STALE_APPROVAL" | "CONFLICT" | "LIMIT_EXCEEDED" | "UNKNOWN_AGENT" | "UNAUTHENTICATED" | "UNAVAILABLE" | "INTERNAL";
        /**
         * @example {
         *       "title": "The blog"
         *     }
         */
        Renaming: {
            /** @description One line. Blank takes the name away. */
            title: string;
        };
        /**
         * @example {
         *       "choice": "retry"
         *     }
         */
        Resuming: {
            /**
             * Format: int32
             * @description The step that the person looked at, from 1, of a plan that is approved step by step. It is refused if another step
             *     has ended since.
             */
            afterStep?: number | null;
            /** @description The approver; the only one if it is not said. */
            approver?: string | null;
            channel?: components["schemas"]["Channel"] | null;
            choice?: components["schemas"]["StuckChoice"] | null;
            digest?: components["schemas"]["Digest"] | null;
            passkey?: components["schemas"]["SignedAct"] | null;
            /** @description The passphrase of an approver, where the approval of the plan takes one. From this machine or over HTTPS only. */
            passphrase?: string | null;
            sessionId?: components["schemas"]["ConversationKey"] | null;
        };
        /**
         * @example {
         *       "version": 0,
         *       "comments": [
         *         {
         *           "id": "c1",
         *           "anchor": {
         *             "quote": "copy the files",
         *             "prefix": "new host ",
         *             "suffix": ""
         *           },
         *           "kind": "comment",
         *           "text": "Which files?"
         *         }
         *       ]
         *     }
         */
        ReviewDraft: {
            comments: components["schemas"]["CommentDraft"][];
            /**
             * Format: int32
             * @description The version that the comments are about.
             */
            version: number;
        };
        ReviewRoundView: {
            /** Format: date-time */
            at: string;
            by: string;
            comments: components["schemas"]["CommentView"][];
            /** Format: int32 */
            number: number;
            /** @description The plan that was commented on: this one, or one that it replaced. */
            planId: string;
            sentWith: components["schemas"]["SentWith"];
            /** Format: int32 */
            version: number;
        };
        /** @description The comments on a plan as one person sees them. */
        ReviewView: {
            /** @description The draft. */
            comments: components["schemas"]["CommentView"][];
            planId: string;
            /** @description What was sent, the newest first. */
            rounds: components["schemas"]["ReviewRoundView"][];
            /**
             * Format: int32
             * @description The version that the draft is about; the current one if the draft is empty.
             */
            version: number;
        };
        Run: {
            /** @description What a person can do with it now. */
            actions: components["schemas"]["Choice"][];
            /**
             * Format: date-time
             * @description When it did something last.
             */
            activeAt: string;
            /** @description Of the words of its goal and its task. A person who lets it continue signs it. */
            digest?: string;
            goalId: components["schemas"]["GoalId"] | null;
            id: components["schemas"]["RunId"];
            /**
             * Format: int32
             * @description Its number in the session.
             */
            number: number;
            /** @description Why it waits or how it ended. */
            reason: string | null;
            runKind: components["schemas"]["RunKind"];
            /** @description The schedule that started it. */
            scheduleId?: components["schemas"]["ScheduleId"];
            spent: components["schemas"]["Spend"];
            /** Format: date-time */
            startedAt: string;
            /** @description `running`, `paused`, `interrupted`, `completed`, `failed` or `stopped` */
            state: string;
            /** @description The task that it works on now. */
            taskId: components["schemas"]["TaskId"];
        };
        /** @description One run of the agent by itself. */
        RunId: string;
        /** @enum {string} */
        RunKind: "GOAL_RUN" | "TASK_RUN";
        Runs: {
            /** @description Every run that is not over and the last ones that are, in the order they were started. */
            items: components["schemas"]["Run"][];
        };
        Schedule: {
            /** @description Minute, hour, day of the month, month, day of the week. */
            cron: string;
            /** @description Of its line and the words of its task and goal. A person who resumes it signs it. */
            digest?: string;
            /** Format: int32 */
            executions: number;
            goalId: components["schemas"]["GoalId"] | null;
            id: components["schemas"]["ScheduleId"];
            /** Format: int32 */
            maxExecutions: number | null;
            /**
             * Format: date-time
             * @description When it is due next.
             */
            nextAt: string | null;
            /**
             * Format: int32
             * @description Its number in the session.
             */
            number: number;
            /** @description `active`, `paused` or `ended` */
            status: string;
            taskId: components["schemas"]["TaskId"];
            timeZone: string;
            /** @description What is done each time. */
            title: string;
        };
        /** @description One schedule of a session. */
        ScheduleId: string;
        Schedules: {
            items: components["schemas"]["Schedule"][];
        };
        ScheduleTerms: {
            cron: string;
            /** Format: int32 */
            maxExecutions?: number | null;
            timeZone?: string | null;
            title: string;
        };
        /**
         * @example {
         *       "until": "2026-03-01T12:03:00Z"
         *     }
         */
        SeenChanges: {
            /**
             * Format: date-time
             * @description When the newest change that was shown was made.
             */
            until: string;
        };
        /**
         * @description The decision that a review was sent with.
         * @enum {string}
         */
        SentWith: "revise" | "approve";
        Server: {
            /** @description What the program was built from. A development build does not say it. */
            commit: string | null;
            /** @description The day of the commit. */
            commitDate: string | null;
            /** @description Whether the program contains the dashboard. */
            dashboard: boolean;
            /** @description What a client may rely on beyond the calls of the first version. */
            features: string[];
            model: components["schemas"]["ServerModel"];
            /** @description The address that links to this server begin with, if it is configured. */
            publicUrl: string | null;
            /** Format: date-time */
            startedAt: string;
            store: components["schemas"]["ServerStore"];
            version: string;
        };
        ServerModel: {
            /** Format: int32 */
            contextTokens: number;
            /** @description Whether the built-in model answers, which only rehearses. */
            isRehearsal: boolean;
            name: string;
            provider: string | null;
        };
        ServerStore: {
            /** @description With its version. */
            kind: string;
            /** Format: int32 */
            schema: number;
        };
        SessionList: {
            damaged?: components["schemas"]["DamagedView"][];
            /**
             * Format: int64
             * @description Where the next page begins, if there is one.
             */
            next: number | null;
            sessions: components["schemas"]["StoredSessionView"][];
        };
        /**
         * @description Whether plan work is on.
         * @enum {string}
         */
        SessionMode: "plan" | "chat";
        /** @description How an approver signed. */
        SignatureView: {
            approver: string;
            /** @description What unlocked the key: `passphrase` or `passkey`. */
            with: string;
        };
        /** @description The answer of a passkey to the challenge for an act. The texts but `clientData` are in base64url. */
        SignedAct: {
            /** @description From the challenge. */
            act: components["schemas"]["Act"];
            /** @description From the challenge. */
            approver: string;
            /**
             * Format: date-time
             * @description From the challenge.
             */
            at: string;
            authenticatorData: string;
            /** @description The browser's `clientDataJSON`, as text. */
            clientData: string;
            credential: string;
            /** @description From the challenge. */
            nonce: string;
            signature: string;
        };
        SkippedView: {
            position: number;
            reason: string;
            step: string;
        };
        /** @description What a run spent. */
        Spend: {
            /**
             * Format: double
             * @description In the currency in which prices are configured; 0 without prices.
             */
            money: number;
            /**
             * Format: double
             * @description How long its turns were at work.
             */
            seconds: number;
            /** Format: int64 */
            tokens: number;
            /** Format: int32 */
            turns: number;
        };
        StepChangesView: {
            description: string;
            files: components["schemas"]["FileDiffView"][];
            /** @description From 1; `null` for changes outside of any step. */
            step: number | null;
            stepId: string | null;
        };
        /** @enum {string} */
        StepField: "agent" | "needs" | "verification" | "commands" | "tool" | "arguments";
        /** @description One step of a plan, unique in the plan and never used again after the step is removed. */
        StepId: string;
        StepPreview: {
            /** @description The text after the step. `null` if there is no file then, or if `problem` says why its text is not shown. */
            after: string | null;
            /**
             * @description The text before the step: as it is now, or as an earlier step leaves it. `null` if there is no file, or if `problem`
             *     says why its text is not shown.
             */
            before: string | null;
            /** @description Whether there is a file at its path, or at the new one, after the step. */
            existsAfter: boolean;
            /** @description Whether there is a file before the step. */
            existsBefore: boolean;
            path: string;
            /** @description Why the step would fail, or why a text is not shown. */
            problem?: string;
            /** @description From 1. */
            step: number;
            stepId: string;
            /** @description The new path of a file that is moved. */
            to?: string;
            /** @description `write_file`, `edit_file`, `delete_file` or `move_file` */
            tool: string;
        };
        StepRunView: {
            /**
             * Format: int32
             * @description How many tools were called in the turns that were made for the step.
             */
            calls?: number;
            description: string;
            evidence: string | null;
            /** Format: date-time */
            finishedAt: string | null;
            note: string | null;
            /** @description From 1. */
            position: number;
            /** @description What those turns cost. */
            spend?: components["schemas"]["WorkSpend"];
            /** Format: date-time */
            startedAt: string | null;
            status: components["schemas"]["StepStatus"];
            step: string;
            /** Format: int64 */
            tookMs: number | null;
        };
        /** @enum {string} */
        StepStatus: "PENDING" | "IN_PROGRESS" | "COMPLETED" | "FAILED" | "SKIPPED" | "UNCERTAIN";
        /** @description One step of a plan, with what its approval and its latest execution say about it. */
        StepView: {
            agent?: string;
            arguments?: unknown;
            /** @description Shell lines that the approval of the step covers. */
            commands?: string[];
            description: string;
            evidence?: string;
            /** Format: date-time */
            finishedAt?: string;
            id: string;
            /** @description The program that makes the call. Absent where Planwright makes all calls of the plan. */
            madeBy?: components["schemas"]["CallRunner"];
            needs?: string[];
            note?: string;
            /** @description From 1. */
            position: number;
            /** Format: date-time */
            startedAt?: string;
            status: components["schemas"]["StepStatus"];
            tool?: string;
            verification?: string;
        };
        /**
         * @description It may be empty.
         * @example {}
         */
        Stop: {
            channel?: components["schemas"]["Channel"] | null;
        };
        Stopped: {
            channel: components["schemas"]["Channel"];
            sessionId: string;
            /** @description Whether a turn was running. */
            stopped: boolean;
        };
        StoredSessionView: {
            /** @description The plan that the session works on. */
            activePlan?: components["schemas"]["ActivePlanView"];
            channel: components["schemas"]["Channel"];
            /** Format: date-time */
            lastActive: string;
            /** Format: date-time */
            openedAt: string;
            planMode: components["schemas"]["PlanModeView"];
            /** Format: int32 */
            plansMade: number;
            /**
             * Format: int64
             * @description The journal's last number.
             */
            seq: number;
            sessionId: string;
            /** @description The name that a person gave it. */
            title: string | null;
            /** @description The first words that were said. */
            topic: string | null;
            /** @description Whether a turn is under way. */
            working: boolean;
            /** @description The project folder that the file tools work in; `null` is the session's own folder. */
            workspace: string | null;
        };
        /** @enum {string} */
        StuckChoice: "retry" | "skip" | "stop";
        Task: {
            /** Format: date-time */
            addedAt: string;
            /** Format: date-time */
            changedAt: string;
            /** @description Of its words and of those of its goal. A person who starts a run of it signs it. */
            digest?: string;
            goalId: components["schemas"]["GoalId"] | null;
            id: components["schemas"]["TaskId"];
            note: string | null;
            /**
             * Format: int32
             * @description Its number in the session.
             */
            number: number;
            status: components["schemas"]["TaskStatus"];
            title: string;
        };
        /**
         * @example {
         *       "status": "done"
         *     }
         */
        TaskChange: {
            note?: string | null;
            status: components["schemas"]["TaskStatus"];
        };
        /** @description One task, unique in the whole store. */
        TaskId: string;
        Tasks: {
            items: components["schemas"]["Task"][];
        };
        /** @enum {string} */
        TaskStatus: "open" | "done" | "failed" | "skipped";
        /**
         * @example {
         *       "digest": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
         *     }
         */
        ToolAcceptance: {
            /** @description The approver who accepts them; it may be left out if there is one. */
            approver?: string | null;
            /** @description The digest of the tools that the person was shown. */
            digest: components["schemas"]["Digest"];
            passkey?: components["schemas"]["SignedAct"] | null;
            /**
             * @description The approver's passphrase, where the policy asks for a verified person. It is taken from this machine or over HTTPS
             *     only, and without an `Idempotency-Key`.
             */
            passphrase?: string | null;
        };
        /** @description Tools of an MCP server that a person has not accepted. */
        ToolChange: {
            /**
             * @description Everything that an acceptance covers and that was not accepted before, as text: new and changed tools whole, with hidden
             *     characters written out.
             */
            difference: string;
            server: string;
        };
        /** @enum {string} */
        ToolStatus: "done" | "planned" | "settled" | "refused" | "failed" | "timed_out" | "uncertain";
        TurnChangesView: {
            /** Format: date-time */
            at: string;
            files: components["schemas"]["FileDiffView"][];
            /** @description What the person said. */
            text: string;
            turnId: string;
        };
        UndeliveredNotification: {
            /** Format: int32 */
            attempts: number;
            /** @description `telegram`, `desktop`, `webhook`, `ntfy`, `email` or `push`. */
            channel: string;
            /** @description Whether it is not tried again. */
            givenUp: boolean;
            /** @description What it tells: `waits`, `finished`, `failed`, `budget`, `damage`; or `answer` or `card`, in a chat. */
            happening: string;
            id: string;
            lastError: string | null;
            /** @description The page of the dashboard that it is about, such as `/p/019ca6b1`. A message in a chat has none. */
            path: string | null;
            /** Format: date-time */
            sinceAt: string;
            /** @description Its beginning. */
            text: string;
        };
        /**
         * @description It may be empty.
         * @example {
         *       "step": 2
         *     }
         */
        Undoing: {
            channel?: components["schemas"]["Channel"] | null;
            sessionId?: components["schemas"]["ConversationKey"] | null;
            /**
             * Format: int32
             * @description Only what this step changed, from 1.
             */
            step?: number | null;
        };
        /**
         * @description It may be empty.
         * @example {
         *       "channel": "web"
         *     }
         */
        UndoingTurn: {
            channel?: components["schemas"]["Channel"] | null;
        };
        UndoneView: {
            /** Format: date-time */
            at: string;
            by: components["schemas"]["Actor"];
            notUndone: components["schemas"]["NotUndoneView"][];
            /** @description The files that were put back. */
            paths: string[];
            /** @description Only this step, from 1. */
            step: number | null;
        };
        /** @description What an undo did. */
        UndoView: {
            /** @description The files that were left as they are. */
            notUndone: components["schemas"]["NotUndoneView"][];
            /** @description The files that are as they were before. */
            paths: string[];
            /** @description The plan that made the changes; absent if a turn of the conversation made them outside of any plan. */
            planId?: string;
        };
        VersionView: {
            /** Format: date-time */
            at: string;
            by: components["schemas"]["Actor"];
            digest: string;
            title: string | null;
            /** Format: int32 */
            version: number;
        };
        /** @enum {string} */
        WaitingKind: "plan" | "permission" | "question" | "step" | "uncertain" | "failed" | "run" | "refused" | "tool_change" | "budget";
        WaitingStepView: {
            description: string;
            /** @description What is known about it. */
            note: string | null;
            /** @description From 1. */
            position: number;
            /** @description How it ended. */
            status?: components["schemas"]["StepStatus"];
        };
        WaitingView: {
            /** @description The choices with their labels and commands. */
            actions: components["schemas"]["Choice"][];
            /** @description Whether the session works on the plan. */
            active?: boolean;
            /** @description An approval of the plan that waits for more people, in words. */
            approvedBySome?: string;
            /** @description The call that the agent asks to make. */
            call?: components["schemas"]["CallToPermit"];
            channel: components["schemas"]["Channel"];
            /** @description What a person can decide. */
            choices: string[];
            /** @description What an approval or an answer has to name. */
            digest: string;
            /**
             * @description The id of the plan, of what the agent asks, of the run, or of the MCP server whose tools changed. For a step to look at, the
             *     position of the step follows a colon.
             */
            id: string;
            kind: components["schemas"]["WaitingKind"];
            /** Format: int32 */
            number?: number;
            /** @description The plan that is decided about, or that the agent works for. */
            planId?: string;
            /** @description What the agent wants to know. */
            questions?: components["schemas"]["Question"][];
            /** @description What a yes needs: `any`, `separate` or `verified`. Absent where nothing is permitted by it. */
            require?: string;
            /** @description The run of the agent by itself. */
            run?: components["schemas"]["Run"];
            /** @description Empty for a change of tools, which concerns all sessions. */
            sessionId: string;
            /** Format: date-time */
            since: string;
            /** @description What it waits for, in a sentence. */
            situation: string;
            status?: components["schemas"]["PlanStatus"];
            /** @description The step whose result is unknown, or that a person looks at. */
            step?: components["schemas"]["WaitingStepView"];
            title: string;
            /** @description The tools that a person is to accept. */
            toolChange?: components["schemas"]["ToolChange"];
        };
        WorkbookView: {
            /** @description Archived workbooks, the oldest first. */
            archives: components["schemas"]["ArchiveView"][];
            channel: components["schemas"]["Channel"];
            current: components["schemas"]["CurrentView"] | null;
            /** @description Whether the agent has the tools for it. */
            on: boolean;
            sessionId: string;
        };
        WorkspaceFile: {
            /**
             * Format: int64
             * @description The size of a file; `null` for a folder.
             */
            bytes: number | null;
            directory: boolean;
            /** @description From the workspace's root. */
            path: string;
        };
        WorkspaceFiles: {
            /** @description In order of their paths. */
            files: components["schemas"]["WorkspaceFile"][];
            /** @description There are more than asked for. */
            truncated: boolean;
        };
        /** @description What a piece of work cost. */
        WorkSpend: {
            /**
             * Format: int64
             * @description Tokens that the model read and wrote.
             */
            tokens: number;
            /** Format: int32 */
            turns: number;
        };
        /**
         * @example {
         *       "sessionId": "k3yk3y8x",
         *       "version": 2,
         *       "markdown": "# Move the blog to a new host\n"
         *     }
         */
        WrittenDocument: {
            channel?: components["schemas"]["Channel"] | null;
            /** @description The whole text. */
            markdown: string;
            sessionId: components["schemas"]["ConversationKey"];
            /**
             * Format: int32
             * @description The version that the text was made from.
             */
            version: number;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export type operations = Record<string, never>;
