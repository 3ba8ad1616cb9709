package apierror

import (
	"maps"
	"slices"
)

// Meaning is what an operator reads about a code: what happened, and what to do. Both are whole
// sentences. docs/refusals.md shows them all.
type Meaning struct{ Text, Advice string }

// Meaning returns what the code means. A code that is not in the table, such as a provider's own,
// has no meaning here.
func (c Code) Meaning() Meaning { return meanings[c] }

// Status is the HTTP status of the code, unless a provider's own is kept.
func (c Code) Status() int {
	if c == ClientGone {
		return StatusClientGone
	}
	return (&Error{Code: c}).HTTPStatus()
}

// Codes returns all codes of a call's record, ordered by status and name.
func Codes() []Code {
	all := append(slices.Collect(maps.Keys(table)), ClientGone)
	slices.SortFunc(all, func(a, b Code) int {
		if d := a.Status() - b.Status(); d != 0 {
			return d
		}
		if a < b {
			return -1
		}
		return 1
	})
	return all
}

// meanings has a row for each code, in the order of the constants.
var meanings = map[Code]Meaning{
	InvalidJSON: {
		"The body is not JSON that the gateway accepts: it is broken, or an object has a key twice.",
		"Correct the client: the message names the place.",
	},
	InvalidValue: {
		"A field of the request has a wrong value, or asks for more than a cap of the key or the model allows.",
		"Correct the field that `param` names. If an option is named, the cap is yours to raise.",
	},
	MissingParameter: {
		"A required field or header is missing.",
		"Add the field that `param` names.",
	},
	UnsupportedParameter: {
		"The request has a field that this provider, its API or the gateway does not have.",
		"Leave out the field that `param` names, or choose a model whose provider has the caller's API.",
	},
	PreviousNotFound: {
		"The response that the request goes on from is not known as one of the tenant's.",
		"Send the conversation instead of the id. After a lost database no earlier response is known.",
	},
	InvalidStreamID: {
		"An event of a WebSocket has a `stream_id`, which is not supported.",
		"Leave it out, and open a connection for each response that is made at the same time.",
	},
	WebSocketQueueFull: {
		"Too many events of a WebSocket wait for the response that is being made.",
		"Send the next `response.create` when a response has ended.",
	},
	WebSocketLimitReached: {
		"The WebSocket is an hour old.",
		"Nothing: clients open another one by themselves.",
	},
	RequestTimeout: {
		"The body did not arrive in time.",
		"Look at the client's network, or raise `timeouts { body }`.",
	},
	InvalidAPIKey: {
		"The key is missing, unknown, expired or disabled.",
		"Check which key the client sends, and `caddy gatehouse check` for expired ones. Such requests leave no row.",
	},
	BudgetExceeded: {
		"A budget of the key, its tenant or the gateway has too little left for the most that this call may use.",
		"Wait for the end of the period, raise the budget, or let the call ask for less output. See `caddy gatehouse budget`.",
	},
	CannotBePriced: {
		"The key has a hard budget, and what the call may cost has no known bound.",
		"Give the model a price in a catalog, make the budget `soft`, or set `unpriced allow` in the key.",
	},
	InsufficientScope: {
		"The key is valid and lacks the scope, or the right to tools that run at the provider, or its `mcp` lines leave it no tool that does the same.",
		"Add the scope, `hosted_tools` or the tool to the key, or use another key.",
	},
	ModelNotFound: {
		"No such model exists, the list of models of the key leaves it out, or its provider does not list it.",
		"Check the name (`provider/model`) and the option `models` of the key. `GET /v1/models` lists what the key can call. A model that its provider does not list needs `models NAME` or `discover off` in the provider's block.",
	},
	ModelNotCallable: {
		"The model is known, and no provider serves it, or not by this API.",
		"Check the option `models` of the provider, and which API the model has.",
	},
	NotFound: {
		"No such response, generation, workstation, session or MCP server exists in the tenant, or the key may not use the server.",
		"Check the id and the tenant; for a server the `mcp` lines of the key.",
	},
	ToolNotFound: {
		"The MCP server has no such tool, or its block, the tenant or the key does not let it be called.",
		"Look at the option that is named: `tools` of the server, `mcp` of the key or of its tenant. `caddy gatehouse mcp NAME` lists what the server has.",
	},
	UnknownURL: {
		"The gateway has no such route.",
		"Check the base URL of the SDK: it ends in `/v1` (OpenAI), in `/api/v1` (OpenRouter), or in nothing (Anthropic, Google).",
	},
	MethodNotAllowed: {
		"The route exists, with another method.",
		"Use the method that the answer's `Allow` names.",
	},
	WorkstationConflict: {
		"A workstation of that name is declared in the Caddyfile, or belongs to another `source`.",
		"Choose another name, or release the workstation first.",
	},
	WorkstationExists: {
		"A workstation of that name is registered, and the request was to create one (`If-None-Match: *`).",
		"Choose another name, or leave out the header.",
	},
	WorkstationGeneration: {
		"Another machine has the name of the workstation than the one that was to be released.",
		"Nothing: the machine of that `generation` is gone already.",
	},
	SyncRefused: {
		"A complete list would have released more than half of the workstations of its source.",
		"Look why the list is short. If it is right, send it with `force`.",
	},
	WorkstationOccupied: {
		"Somebody has the workstation, and the request for an address said that it must not be taken.",
		"Wait, ask the holder, or ask for the address with `take_over`: of another key's session it needs `workstations:manage`.",
	},
	RangeNotSatisfiable: {
		"The request wanted a range behind the end of the file.",
		"Nothing, if all of the file was read; else ask without `Range`.",
	},
	ControlHeld: {
		"A person, or another agent, holds the keyboard and the pointer of the workstation. Nothing was sent.",
		"The agent asks again later. A person gives it back, or it ends by `return_after` in `vnc`; an agent has it until a minute after its last call, or until its session is ended. `screenshots_during_hold` lets agents look meanwhile.",
	},
	RecordingInProgress: {
		"The recording is being written, and was not deleted: its session may have to be recorded.",
		"End the session, then delete the recording.",
	},
	WorkstationDenied: {
		"The source of the tenant's workstations said no to this caller. The message is its reason.",
		"Ask at the control plane.",
	},
	WorkstationStarting: {
		"The source of the tenant's workstations said that this one is not there yet.",
		"Ask again after `Retry-After`. If it never comes, look at the control plane.",
	},
	SourceUnavailable: {
		"The source of the tenant's workstations gave no answer that counts. Open sessions go on.",
		"Look at the log: `code` and `error` say why.",
	},
	AutomationOff: {
		"A rule says that agents may not look at the workstation, or not act on it.",
		"Set `automation` at the level that the message names. Without one in the `vnc` block agents may do nothing.",
	},
	AutomationBusy: {
		"Agents have as many desktops open as allowed, or their pictures fill `automation_memory`. An eighth of both is kept for tenants that have none open.",
		"Desktops that no call needs are closed after a minute. Else raise `automation_sessions` or `automation_memory` in `vnc`.",
	},
	WorkstationUnreachable: {
		"The workstation did not let the gateway in, did not answer in time, or closed the connection while an agent used it.",
		"Look at the session of the same time in the activity: its `code` says which, and the log why.",
	},
	SessionEnded: {
		"The agent's session ended while its call was under way: by hand, by a time limit, or with its key.",
		"Look at `ended` of the session in the activity. The next call opens another session.",
	},
	RequestTooLarge: {
		"The body is larger than the limit of the key, the model, the site or a guardrail.",
		"Send less, or raise `max_body`, in the option that is named.",
	},
	UnsupportedEncoding: {
		"The body is compressed, or its `Content-Type` is not what the route takes.",
		"Turn request compression off in the client, and in a proxy before the gateway. Send JSON as `application/json`.",
	},
	GuardrailBlocked: {
		"A guardrail found something in a text of the call that it blocks.",
		"Look at what the named class means in the guardrail's block. The text itself is stored nowhere.",
	},
	ProviderContentPolicy: {
		"The provider's own moderation refused the text.",
		"Change the text, or ask the provider. The gateway cannot allow it.",
	},
	UpgradeRequired: {
		"The client asked for a WebSocket, which the path has not, or only with `responses_websocket`.",
		"Nothing: clients go on with HTTP by themselves.",
	},
	ConcurrencyLimitExceeded: {
		"As many calls were under way as allowed, and the queue was full or its wait over.",
		"Make fewer calls at once, or raise `concurrency`, or give it a queue.",
	},
	KeysExceeded: {
		"The gateway has as many run-time keys as it may have.",
		"Delete keys that nobody uses (`caddy gatehouse key list`), or raise `max` in `runtime_keys`.",
	},
	GatewayBusy: {
		"The bodies of all requests together filled `body_memory`, large answers `answer_memory`, or large forms the space for them on the disk.",
		"Raise the option that the refusal names if the machine has more memory, and look for clients that send slowly.",
	},
	RateLimitExceeded: {
		"A rate of requests or tokens was used up.",
		"Wait as `Retry-After` says, or raise the rate.",
	},
	UpstreamRateLimited: {
		"The own rate limit of the provider or the MCP server was reached.",
		"Ask it for more, spread the calls over several targets, or set a `rate` below its own.",
	},
	WorkstationTokensExceeded: {
		"The workstation has as many live VNC addresses as it may have.",
		"Let addresses expire, ask for them with a shorter `expires_in`, or raise `max_tokens` in `vnc`.",
	},
	WorkstationGuestsExceeded: {
		"As many guests are invited to the session as its rules allow.",
		"Let an address expire or a guest leave, or raise `max_guests` of the `session` rules.",
	},
	WorkstationsExceeded: {
		"The tenant has registered as many workstations at run time as it may have.",
		"Release those that are gone, or raise `max_registered` in `vnc`.",
	},
	UpstreamRejected: {
		"The provider or the MCP server refused the request for what is in it.",
		"Read the message, which is its own. So is the status.",
	},
	ContextLengthExceeded: {
		"The conversation is longer than the model's context.",
		"Shorten it, or choose a model with a longer context.",
	},
	ClientGone: {
		"The client disconnected before the end of the answer.",
		"Nothing, or raise the client's timeout. `on_disconnect` decides whether the provider's work is cancelled.",
	},
	Internal: {
		"The gateway failed. It is a fault of the program.",
		"Look for the request id in the log, and report the lines without secrets.",
	},
	UpstreamAuth: {
		"The provider or the MCP server refused the gateway's credential.",
		"Replace the credential in its block: it was revoked, mistyped, or lacks a right. `caddy gatehouse check --dial` tries it.",
	},
	UpstreamError: {
		"The provider or the MCP server failed: no connection, a 5xx, or an answer that is not one; or nobody gives the gateway a credential for it.",
		"Look at its status page, and at `caddy gatehouse providers` or `caddy gatehouse mcp`. `cause` in the log line of the request says what went wrong, and `caddy gatehouse check --dial` tries the provider. For a model, a second target in an `alias` would take over.",
	},
	UpstreamQuota: {
		"The account at the provider has no quota left.",
		"Pay, or raise the limit at the provider.",
	},
	UpstreamTimeout: {
		"The provider or the MCP server took longer than a time limit: the code of the attempt says which.",
		"Raise the limit in `timeouts` of its block or of the model, or add a second target.",
	},
	GuardrailUnavailable: {
		"The webhook of a guardrail could not be asked.",
		"Look at the moderator's health and the address in the guardrail's block.",
	},
	LedgerUnavailable: {
		"The database could not be read or written, and the policy is to refuse.",
		"Look at the disk and the log. `on_store_failure` decides which calls go on meanwhile.",
	},
	NoProvider: {
		"No provider could be asked: its list of models has not come, or all of its targets cool down.",
		"Look at `caddy gatehouse providers`, and at the log for the list of models.",
	},
	ShuttingDown: {
		"The gateway was stopping, or its configuration was replaced.",
		"Nothing: SDKs try again. A longer `grace_period` interrupts fewer streams.",
	},
	StorageUnavailable: {
		"Caddy's storage of workstations does not answer.",
		"Look at Caddy's storage: the disk, or the module that it uses.",
	},
	NoRole: {
		"It is known who the caller is, and no role of the configuration is for them.",
		"Look in the log at the claims or groups, and at the `role` lines of the `identity` block.",
	},
	IdentityUnavailable: {
		"The keys of the token's issuer could not be read, or the identity provider not be asked, so that nobody knows whether the token is valid.",
		"Look in the log why, and at the `issuer` and `keys` of its `identity` block.",
	},
	UpstreamOverloaded: {
		"The provider or the MCP server said that it is overloaded.",
		"Wait, or add a second target in an `alias`.",
	},
}
