package apierror

import "time"

// Code is the stable machine name of a refusal: `error.code` of the OpenAI API, the label of the
// metric, the field of the log line and of the record.
type Code string

// The codes, in the order of the table below.
const (
	InvalidJSON          Code = "invalid_json"
	InvalidValue         Code = "invalid_value"
	MissingParameter     Code = "missing_required_parameter"
	UnsupportedParameter Code = "unsupported_parameter"
	PreviousNotFound     Code = "previous_response_not_found"

	// Responses over a WebSocket: a stream of its own within the connection, more waiting than may,
	// a connection that is too old. The names are OpenAI's.
	InvalidStreamID       Code = "invalid_stream_id"
	WebSocketQueueFull    Code = "websocket_queue_full"
	WebSocketLimitReached Code = "websocket_connection_limit_reached"

	InvalidAPIKey     Code = "invalid_api_key"
	InsufficientScope Code = "insufficient_scope"

	UnknownURL       Code = "unknown_url"
	ModelNotFound    Code = "model_not_found"
	ModelNotCallable Code = "model_not_callable"
	NotFound         Code = "not_found"
	ToolNotFound     Code = "tool_not_found"

	MethodNotAllowed    Code = "method_not_allowed"
	UpgradeRequired     Code = "upgrade_required"
	UnsupportedEncoding Code = "unsupported_encoding"
	RequestTooLarge     Code = "request_too_large"
	RequestTimeout      Code = "request_timeout"

	// Workstations: a name that is taken, or in use by another machine, a list that would release too
	// many, a desktop that somebody else has, caps on tokens and registrations, a storage that cannot
	// be written.
	WorkstationConflict       Code = "workstation_conflict"
	WorkstationExists         Code = "workstation_exists"
	WorkstationGeneration     Code = "workstation_generation"
	SyncRefused               Code = "sync_refused"
	WorkstationOccupied       Code = "workstation_occupied"
	WorkstationTokensExceeded Code = "workstation_tokens_exceeded"
	WorkstationsExceeded      Code = "workstations_exceeded"
	WorkstationGuestsExceeded Code = "workstation_guests_exceeded"
	StorageUnavailable        Code = "storage_unavailable"
	NoRole                    Code = "no_role"
	IdentityUnavailable       Code = "identity_unavailable"

	// ControlHeld means that a person, or another agent, holds the input of a desktop.
	ControlHeld Code = "control_held"
	// RecordingInProgress means that a recording is being written, and cannot be deleted.
	RecordingInProgress Code = "recording_in_progress"
	RangeNotSatisfiable Code = "range_not_satisfiable"

	// The source of a workstation has said no, or that it comes later, or nothing that counts.
	WorkstationDenied   Code = "workstation_denied"
	WorkstationStarting Code = "workstation_starting"
	SourceUnavailable   Code = "source_unavailable"

	// Agents at workstations: a rule says no, as many desktops are open as may be, the workstation does
	// not let the gateway in or left, the session has ended.
	AutomationOff          Code = "automation_off"
	AutomationBusy         Code = "automation_busy"
	WorkstationUnreachable Code = "workstation_unreachable"
	SessionEnded           Code = "session_ended"

	// KeysExceeded means that no more keys can be made at run time.
	KeysExceeded Code = "keys_exceeded"

	GatewayBusy              Code = "gateway_busy"
	RateLimitExceeded        Code = "rate_limit_exceeded"
	ConcurrencyLimitExceeded Code = "concurrency_limit_exceeded"

	BudgetExceeded Code = "budget_exceeded"
	CannotBePriced Code = "cannot_be_priced"

	UpstreamRateLimited Code = "upstream_rate_limited"
	UpstreamAuth        Code = "upstream_auth_error"
	UpstreamQuota       Code = "upstream_quota_exhausted"
	UpstreamError       Code = "upstream_error"
	UpstreamTimeout     Code = "upstream_timeout"
	UpstreamOverloaded  Code = "upstream_overloaded"

	// A provider's own verdict on the request, kept with its status.
	UpstreamRejected      Code = "upstream_rejected"
	ContextLengthExceeded Code = "context_length_exceeded"
	ProviderContentPolicy Code = "provider_content_policy"

	// GuardrailBlocked is our own verdict on a text; GuardrailUnavailable means that a moderator
	// did not answer.
	GuardrailBlocked     Code = "guardrail_blocked"
	GuardrailUnavailable Code = "guardrail_unavailable"

	NoProvider        Code = "no_provider_available"
	LedgerUnavailable Code = "ledger_unavailable"
	ShuttingDown      Code = "shutting_down"

	Internal Code = "internal"

	// ClientGone is never sent: it is the code in the record (499).
	ClientGone Code = "client_closed_request"
)

// UpstreamFailures are the codes of calls that failed at a provider or an MCP server. UpstreamRejected is
// none of them: it is a verdict on the request.
var UpstreamFailures = []Code{UpstreamError, UpstreamTimeout, UpstreamOverloaded, UpstreamRateLimited, UpstreamAuth, UpstreamQuota}

// StatusClientGone is the record's status of a call whose client disconnected.
const StatusClientGone = 499

const (
	invalidRequest = "invalid_request_error"
	serverError    = "server_error"
	rateLimitError = "rate_limit_error"
	noQuota        = "insufficient_quota"
	notFound       = "not_found_error" // the following are of the Messages API only
	apiError       = "api_error"
	overloaded     = "overloaded_error"
	noBilling      = "billing_error"
)

// shownBudget is the row of BudgetExceeded for callers whose client shows budgets to a person: of
// refusals by a budget it shows the message of a 429 alone (Claude Code gateway protocol 1).
var shownBudget = row{429, noQuota, "payment_required", noBilling, 0, true}

type row struct {
	status         int
	openaiType     string
	openrouterType string
	anthropicType  string
	retryAfter     time.Duration
	final          bool // though its status is one that passes
}

// table is the one map of refusals. Two rules hold in it, both because of how the SDKs retry. A
// permanent refusal is never 5xx: the OpenRouter SDKs repeat a 5xx for an hour. And each 4xx but 429
// says that it is final: the OpenAI SDKs repeat a 409, and Claude Code repeats a 401 ten times.
var table = map[Code]row{
	InvalidJSON:          {400, invalidRequest, "invalid_request", invalidRequest, 0, false},
	InvalidValue:         {400, invalidRequest, "invalid_request", invalidRequest, 0, false},
	MissingParameter:     {400, invalidRequest, "invalid_request", invalidRequest, 0, false},
	UnsupportedParameter: {400, invalidRequest, "invalid_request", invalidRequest, 0, false},
	PreviousNotFound:     {400, invalidRequest, "invalid_request", invalidRequest, 0, false},
	RequestTimeout:       {400, invalidRequest, "invalid_request", invalidRequest, 0, false},

	InvalidStreamID:       {400, invalidRequest, "invalid_request", invalidRequest, 0, false},
	WebSocketQueueFull:    {429, rateLimitError, "rate_limit_exceeded", rateLimitError, time.Second, false},
	WebSocketLimitReached: {400, invalidRequest, "invalid_request", invalidRequest, 0, false},

	BudgetExceeded: {402, noQuota, "payment_required", noBilling, 0, false},
	CannotBePriced: {402, noQuota, "payment_required", noBilling, 0, false},

	InvalidAPIKey:     {401, invalidRequest, "authentication", "authentication_error", 0, false},
	InsufficientScope: {403, "permission_error", "permission_denied", "permission_error", 0, false},
	KeysExceeded:      {403, "permission_error", "permission_denied", "permission_error", 0, false},

	UnknownURL:       {404, invalidRequest, "not_found", notFound, 0, false},
	ModelNotFound:    {404, invalidRequest, "not_found", notFound, 0, false},
	ModelNotCallable: {404, invalidRequest, "not_found", notFound, 0, false},
	NotFound:         {404, invalidRequest, "not_found", notFound, 0, false},
	ToolNotFound:     {404, invalidRequest, "not_found", notFound, 0, false},

	MethodNotAllowed:    {405, invalidRequest, "invalid_request", invalidRequest, 0, false},
	UpgradeRequired:     {426, invalidRequest, "invalid_request", invalidRequest, 0, false},
	UnsupportedEncoding: {415, invalidRequest, "invalid_request", invalidRequest, 0, false},
	RequestTooLarge:     {413, invalidRequest, "payload_too_large", "request_too_large", 0, false},

	WorkstationConflict:       {409, invalidRequest, "invalid_request", invalidRequest, 0, false},
	WorkstationExists:         {412, invalidRequest, "invalid_request", invalidRequest, 0, false},
	WorkstationGeneration:     {409, invalidRequest, "invalid_request", invalidRequest, 0, false},
	SyncRefused:               {409, invalidRequest, "invalid_request", invalidRequest, 0, false},
	WorkstationOccupied:       {409, invalidRequest, "invalid_request", invalidRequest, 0, false},
	RangeNotSatisfiable:       {416, invalidRequest, "invalid_request", invalidRequest, 0, false},
	RecordingInProgress:       {409, invalidRequest, "invalid_request", invalidRequest, 0, false},
	WorkstationTokensExceeded: {429, rateLimitError, "rate_limit_exceeded", rateLimitError, time.Minute, true},
	WorkstationGuestsExceeded: {429, rateLimitError, "rate_limit_exceeded", rateLimitError, time.Minute, true},
	WorkstationsExceeded:      {429, rateLimitError, "rate_limit_exceeded", rateLimitError, time.Minute, true},
	ControlHeld:               {409, invalidRequest, "invalid_request", invalidRequest, 0, false},
	StorageUnavailable:        {503, serverError, "provider_overloaded", overloaded, 10 * time.Second, false},

	NoRole:              {403, "permission_error", "permission_denied", "permission_error", 0, false},
	IdentityUnavailable: {503, serverError, "provider_overloaded", overloaded, 5 * time.Second, false},
	WorkstationDenied:   {403, "permission_error", "permission_denied", "permission_error", 0, false},
	WorkstationStarting: {503, serverError, "provider_overloaded", overloaded, 10 * time.Second, false},
	SourceUnavailable:   {503, serverError, "provider_overloaded", overloaded, 5 * time.Second, false},

	AutomationOff:          {403, "permission_error", "permission_denied", "permission_error", 0, false},
	AutomationBusy:         {429, rateLimitError, "rate_limit_exceeded", rateLimitError, 10 * time.Second, false},
	WorkstationUnreachable: {502, serverError, "provider_unavailable", apiError, 10 * time.Second, false},
	SessionEnded:           {409, invalidRequest, "invalid_request", invalidRequest, 0, false},

	GatewayBusy:              {429, rateLimitError, "rate_limit_exceeded", rateLimitError, time.Second, false},
	RateLimitExceeded:        {429, rateLimitError, "rate_limit_exceeded", rateLimitError, 0, false},
	ConcurrencyLimitExceeded: {429, rateLimitError, "rate_limit_exceeded", rateLimitError, time.Second, false},

	UpstreamRateLimited: {429, rateLimitError, "rate_limit_exceeded", rateLimitError, time.Second, false},
	UpstreamAuth:        {502, serverError, "provider_unavailable", apiError, time.Minute, true},
	UpstreamQuota:       {502, serverError, "provider_unavailable", apiError, time.Minute, true},
	UpstreamError:       {502, serverError, "provider_unavailable", apiError, 10 * time.Second, false},
	UpstreamTimeout:     {502, serverError, "timeout", apiError, 10 * time.Second, false},
	UpstreamOverloaded:  {503, serverError, "provider_overloaded", overloaded, 10 * time.Second, false},

	UpstreamRejected:      {400, invalidRequest, "invalid_request", invalidRequest, 0, false},
	ContextLengthExceeded: {400, invalidRequest, "context_length_exceeded", invalidRequest, 0, false},
	ProviderContentPolicy: {422, invalidRequest, "content_policy_violation", invalidRequest, 0, false},
	GuardrailBlocked:      {422, invalidRequest, "content_policy_violation", invalidRequest, 0, false},

	NoProvider:           {503, serverError, "provider_overloaded", overloaded, 10 * time.Second, false},
	LedgerUnavailable:    {503, serverError, "provider_overloaded", overloaded, 10 * time.Second, false},
	GuardrailUnavailable: {503, serverError, "provider_overloaded", overloaded, 10 * time.Second, false},
	ShuttingDown:         {503, serverError, "provider_overloaded", overloaded, time.Second, false},

	Internal: {500, serverError, "server", apiError, 0, false},
}
