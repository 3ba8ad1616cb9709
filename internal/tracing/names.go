package tracing

import "go.opentelemetry.io/otel/attribute"

// scope names the gateway in its spans.
const scope = "gatehouse"

// The names of spans. That of a call is its operation, and the model if the catalog has it.
const (
	SpanQueue   = "gatehouse.queue"
	SpanAttempt = "POST"
	SpanSession = "gatehouse.session"
)

// EventGuardrail is an event of a span: a guardrail refused a text or took something out of it.
const EventGuardrail = "gatehouse.guardrail"

// StaleConnection is the error.type of a request that met a connection which the provider was closing;
// it has no other code, because the call goes on.
const StaleConnection = "stale_connection"

// Attributes that OpenTelemetry's semantic conventions define.
const (
	Operation        = attribute.Key("gen_ai.operation.name")
	Provider         = attribute.Key("gen_ai.provider.name")
	RequestModel     = attribute.Key("gen_ai.request.model")
	RequestStream    = attribute.Key("gen_ai.request.stream")
	MaxTokens        = attribute.Key("gen_ai.request.max_tokens")
	Temperature      = attribute.Key("gen_ai.request.temperature")
	TopP             = attribute.Key("gen_ai.request.top_p")
	ChoiceCount      = attribute.Key("gen_ai.request.choice.count")
	Seed             = attribute.Key("gen_ai.request.seed")
	ResponseID       = attribute.Key("gen_ai.response.id")
	ResponseModel    = attribute.Key("gen_ai.response.model")
	FinishReasons    = attribute.Key("gen_ai.response.finish_reasons")
	FirstChunk       = attribute.Key("gen_ai.response.time_to_first_chunk")
	InputTokens      = attribute.Key("gen_ai.usage.input_tokens")
	OutputTokens     = attribute.Key("gen_ai.usage.output_tokens")
	CacheReadTokens  = attribute.Key("gen_ai.usage.cache_read.input_tokens")
	CacheWriteTokens = attribute.Key("gen_ai.usage.cache_write.input_tokens")
	ReasoningTokens  = attribute.Key("gen_ai.usage.reasoning.output_tokens")
	APIType          = attribute.Key("openai.api.type")
	Method           = attribute.Key("http.request.method")
	ResendCount      = attribute.Key("http.request.resend_count")
	StatusCode       = attribute.Key("http.response.status_code")
	ServerAddress    = attribute.Key("server.address")
	ServerPort       = attribute.Key("server.port")
	ErrorType        = attribute.Key("error.type")
)

// Attributes of the gateway's own.
const (
	RequestID       = attribute.Key("gatehouse.request_id")
	Tenant          = attribute.Key("gatehouse.tenant")
	Key             = attribute.Key("gatehouse.key")
	Code            = attribute.Key("gatehouse.code")
	Cost            = attribute.Key("gatehouse.cost_usd")
	Priced          = attribute.Key("gatehouse.priced")
	Attempts        = attribute.Key("gatehouse.attempts")
	UsageSource     = attribute.Key("gatehouse.usage_source")
	Target          = attribute.Key("gatehouse.target")
	Workstation     = attribute.Key("gatehouse.workstation")
	Session         = attribute.Key("gatehouse.session")
	Ended           = attribute.Key("gatehouse.ended")
	Guardrail       = attribute.Key("gatehouse.guardrail.name")
	GuardrailAction = attribute.Key("gatehouse.guardrail.action")
	GuardrailClass  = attribute.Key("gatehouse.guardrail.class")
)
