package openapi

import (
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
)

// operation is what the route table does not say of a route.
type operation struct {
	id, summary string
	params      []string // of the query
	required    string   // that of params which must be there

	request   reflect.Type // nil: no body is read
	needsBody bool

	answer reflect.Type    // in JSON; nil: there is none
	or     reflect.Type    // another form of it
	media  string          // of an answer, or of another form of it
	status int             // of an answer: 0 is 200, without one 204
	also   []int           // other statuses of success
	codes  []apierror.Code // of refusals, besides those that all routes have
}

func of[T any]() reflect.Type { return reflect.TypeFor[T]() }

// everywhere are the codes of refusals of each route, withBody those of routes that read a body.
var (
	everywhere = []apierror.Code{
		apierror.InvalidValue, apierror.UnsupportedParameter, apierror.InvalidAPIKey, apierror.InsufficientScope,
		apierror.Internal, apierror.ShuttingDown, apierror.LedgerUnavailable,
	}
	withBody = []apierror.Code{
		apierror.InvalidJSON, apierror.MissingParameter, apierror.RequestTimeout, apierror.RequestTooLarge, apierror.UnsupportedEncoding,
		apierror.GatewayBusy,
	}
)

// Codes of some routes. unknown_url is what a gateway without the feature answers.
var (
	nowhere    = []apierror.Code{apierror.UnknownURL}
	findsModel = []apierror.Code{apierror.ModelNotFound, apierror.ModelNotCallable, apierror.NoProvider}
	finds      = with(nowhere, apierror.NotFound)
	stores     = with(finds, apierror.StorageUnavailable)
	registers  = with(stores, apierror.WorkstationConflict, apierror.WorkstationExists, apierror.WorkstationGeneration,
		apierror.WorkstationsExceeded)
	connects = with(stores, apierror.WorkstationOccupied, apierror.WorkstationTokensExceeded, apierror.WorkstationDenied,
		apierror.WorkstationStarting, apierror.SourceUnavailable, apierror.MissingParameter)
	automates = with(connects, apierror.AutomationOff, apierror.AutomationBusy, apierror.WorkstationUnreachable,
		apierror.SessionEnded, apierror.ControlHeld, apierror.GatewayBusy, apierror.RateLimitExceeded,
		apierror.ConcurrencyLimitExceeded, apierror.BudgetExceeded, apierror.CannotBePriced,
		apierror.GuardrailBlocked, apierror.GuardrailUnavailable, apierror.ToolNotFound)
)

func with(codes []apierror.Code, more ...apierror.Code) []apierror.Code {
	return slices.Concat(codes, more)
}

// open are the routes without a key, which the route table does not have.
var open = map[string]*operation{
	"/healthz": {id: "isAlive", summary: "Liveness, where the site has gatehouse_health", answer: of[health](), codes: nowhere},
	"/readyz": {id: "isReady", summary: "Readiness, where the site has gatehouse_health",
		answer: of[health](), also: []int{http.StatusServiceUnavailable}, codes: nowhere},
	Path: {id: "describeAPI", summary: "This document", media: "application/json"},
}

// numbers are the parameters of the query that are whole numbers.
var numbers = []string{"limit", "max_height", "max_ms", "max_width", "min_latency_ms", "offset", "quiet_ms", "top", "wait"}

const (
	ofOpenAI = "https://platform.openai.com/docs/api-reference/"
	ofCohere = "https://docs.cohere.com/reference/rerank"
	// ofClaudeCode is the gateway protocol of Claude Code.
	ofClaudeCode = "https://code.claude.com/docs/en/llm-gateway-protocol"
)

// vendors are the routes of vendors' APIs: how their paths begin, and where they are documented.
var vendors = []struct{ prefix, documentation string }{
	{"/v1/chat/completions", ofOpenAI + "chat"},
	{"/v1/responses", ofOpenAI + "responses"},
	{"/v1/embeddings", ofOpenAI + "embeddings"},
	{"/v1/moderations", ofOpenAI + "moderations"},
	{"/v1/completions", ofOpenAI + "completions"},
	{"/v1/images/", ofOpenAI + "images"},
	{"/v1/audio/", ofOpenAI + "audio"},
	{"/v1/rerank", ofCohere},
	{"/v2/rerank", ofCohere},
	{"/v1/messages", "https://docs.anthropic.com/en/api/messages"},
	{"/api/v1/messages", "https://docs.anthropic.com/en/api/messages"},
	{"/managed/settings", ofClaudeCode},
	{"/api/oauth/", ofClaudeCode},
	{"/v1/metrics", ofClaudeCode},
	{"/v1/logs", ofClaudeCode},
	{"/v1/traces", ofClaudeCode},
	{"/v1beta/models", "https://ai.google.dev/api"},
	{"/mcp/", "https://modelcontextprotocol.io/specification"},
	{"/api/v1/chat/completions", "https://openrouter.ai/docs/api-reference/overview"},
	{"/api/v1/responses", "https://openrouter.ai/docs/api-reference/overview"},
	{"/api/v1/embeddings", "https://openrouter.ai/docs/api-reference/overview"},
	{"/api/v1/rerank", "https://openrouter.ai/docs/api-reference/overview"},
	{"/api/v1/completions", "https://openrouter.ai/docs/api-reference/overview"},
	{"/api/v1/audio/", "https://openrouter.ai/docs/api-reference/overview"},
	{"/api/v1/images", "https://openrouter.ai/docs/api-reference/overview"},
}

// vendorOf returns where a route is documented, "" for one of the gateway's own.
func vendorOf(path string) string {
	for _, v := range vendors {
		if strings.HasPrefix(path, v.prefix) {
			return v.documentation
		}
	}
	return ""
}
