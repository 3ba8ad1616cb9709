package modelcall

import (
	"strconv"

	"go.opentelemetry.io/otel/attribute"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
	"github.com/gatehouse-proxy/gatehouse/internal/redact"
	"github.com/gatehouse-proxy/gatehouse/internal/tracing"
)

// operationName is the value of gen_ai.operation.name. The conventions have none for a count of tokens.
func operationName(op provider.Operation) string {
	switch op {
	case provider.Embeddings:
		return "embeddings"
	case provider.CountTokens:
		return "count_tokens"
	}
	return "chat"
}

// spanName is the name of the span of the call. It has no model that a caller invented.
func spanName(c *call) string {
	name := operationName(c.op.kind())
	if c.knownModel {
		name += " " + tracing.Text(c.Record.Model)
	}
	return name
}

// requestAttributes are those of the call's span that are known when it begins.
func requestAttributes(c *call, t *target) []attribute.KeyValue {
	r := c.Record
	list := append(c.trace.params, targetAttributes(t)...)
	return append(list,
		tracing.Operation.String(operationName(c.op.kind())),
		tracing.RequestModel.String(safe(c.Request, r.Model)),
		tracing.RequestID.String(r.RequestID), tracing.Tenant.String(r.Tenant), tracing.Key.String(r.Key),
	)
}

// targetAttributes say who was asked, of the call's span. Those of the last target count.
func targetAttributes(t *target) []attribute.KeyValue {
	host, port := t.endpoint.Address()
	list := []attribute.KeyValue{
		tracing.Provider.String(tracing.ProviderName(host, t.provider.Name)), tracing.ServerAddress.String(host), tracing.ServerPort.Int(port),
	}
	switch t.operation {
	case provider.Chat:
		list = append(list, tracing.APIType.String("chat_completions"))
	case provider.Responses:
		list = append(list, tracing.APIType.String("responses"))
	}
	return list
}

// attemptAttributes are those of a request to a provider. The conventions' url.full is left out: an
// address may have a credential in it.
func attemptAttributes(c *call, t *target) []attribute.KeyValue {
	host, port := t.endpoint.Address()
	list := []attribute.KeyValue{
		tracing.Method.String("POST"), tracing.ServerAddress.String(host), tracing.ServerPort.Int(port), tracing.Target.String(safe(c.Request, t.id)),
	}
	if again := c.Record.Attempts - 1; again > 0 {
		list = append(list, tracing.ResendCount.Int(again))
	}
	return list
}

// answerAttributes are those of the call's span that are known when the call has ended.
func answerAttributes(c *call, t *callTrace) []attribute.KeyValue {
	r := c.Record
	list := append(targetAttributes(c.upstream.target),
		tracing.Attempts.Int(r.Attempts), tracing.Priced.Bool(r.Priced), tracing.Cost.Float64(float64(r.CostNano)/nanoPerUSD), tracing.UsageSource.String(r.UsageSource))
	if r.Code != "" {
		list = append(list, tracing.Code.String(r.Code))
	}
	for _, text := range [...]struct {
		key   attribute.Key
		value string
	}{{tracing.ResponseID, r.UpstreamID}, {tracing.ResponseModel, t.model}} {
		if text.value != "" {
			list = append(list, text.key.String(safe(c.Request, text.value)))
		}
	}
	if r.FinishReason != "" {
		list = append(list, tracing.FinishReasons.StringSlice([]string{safe(c.Request, r.FinishReason)}))
	}
	if r.FirstToken > 0 {
		list = append(list, tracing.FirstChunk.Float64(c.begun.Add(r.FirstToken).Sub(t.began).Seconds()))
	}
	if r.UsageSource != activity.UsageNone {
		list = append(list, tracing.InputTokens.Int64(r.PromptTokens), tracing.OutputTokens.Int64(r.CompletionTokens))
	}
	for _, part := range [...]struct {
		key    attribute.Key
		tokens int64
	}{{tracing.CacheReadTokens, r.CachedTokens}, {tracing.CacheWriteTokens, c.meter.usage.CacheWrite}, {tracing.ReasoningTokens, r.ReasoningTokens}} {
		if part.tokens > 0 {
			list = append(list, part.key.Int64(part.tokens))
		}
	}
	return list
}

const nanoPerUSD = 1e9

// serverAttributes are those that the gateway adds to the server's span. The model of a call that was
// refused before it reached a provider is there, because it has no span of its own.
func serverAttributes(q *Request, t *callTrace) []attribute.KeyValue {
	r := q.Record
	list := []attribute.KeyValue{tracing.RequestID.String(r.RequestID), tracing.Tenant.String(r.Tenant), tracing.Key.String(r.Key)}
	if r.Code != "" {
		list = append(list, tracing.Code.String(r.Code), tracing.ErrorType.String(r.Code))
	}
	if r.Model != "" && t.call == nil {
		list = append(list, tracing.RequestModel.String(safe(q, r.Model)))
	}
	if r.Workstation != "" {
		list = append(list, tracing.Workstation.String(safe(q, r.Workstation)))
	}
	if t.session != "" {
		list = append(list, tracing.Session.String(safe(q, t.session)))
	}
	return list
}

// parametersOf reads the parameters of a request that spans show. Anything but a number is left out:
// it is refused later, or is the provider's to refuse.
func parametersOf(b *jsonscan.Body) (list []attribute.KeyValue) {
	var output int64
	for i, m := range b.Members() {
		value := b.Value(i)
		switch string(m.Key(b.Data())) {
		case "temperature":
			list = appendFloat(list, tracing.Temperature, value)
		case "top_p":
			list = appendFloat(list, tracing.TopP, value)
		case "max_tokens", "max_completion_tokens", "max_output_tokens":
			n, _ := jsonscan.Int(value)
			output = max(output, n)
		case "n":
			list = appendInt(list, tracing.ChoiceCount, value)
		case "seed":
			list = appendInt(list, tracing.Seed, value)
		}
	}
	if output > 0 {
		list = append(list, tracing.MaxTokens.Int64(output))
	}
	return list
}

func appendInt(list []attribute.KeyValue, key attribute.Key, value []byte) []attribute.KeyValue {
	if n, ok := jsonscan.Int(value); ok {
		list = append(list, key.Int64(n))
	}
	return list
}

func appendFloat(list []attribute.KeyValue, key attribute.Key, value []byte) []attribute.KeyValue {
	const longest = 32 // digits of a number that a person or an SDK writes
	if len(value) > longest || jsonscan.KindOf(value[0]) != '0' {
		return list
	}
	if n, err := strconv.ParseFloat(string(value), 64); err == nil {
		list = append(list, key.Float64(n))
	}
	return list
}

// modelOf returns the model that a part of an answer names, "" for none. Events of Responses and
// Messages have it in an object.
func modelOf(part []byte) (name string) {
	for m := range jsonscan.AllMembers(part) {
		switch string(m.Key(part)) {
		case "model":
			name, _ = jsonscan.String(m.Value(part))
			return name
		case "response", "message":
			object := m.Value(part)
			for m := range jsonscan.AllMembers(object) {
				if string(m.Key(object)) == "model" {
					name, _ = jsonscan.String(m.Value(object))
					return name
				}
			}
		}
	}
	return ""
}

// safe makes the text of a caller or a provider fit for a span: known secrets are taken out, with the
// caller's own, of which the configuration may know only the hash, and it is bounded and valid.
func safe(q *Request, text string) string {
	return tracing.Text(q.deps.Redactor.Text(redact.Own(text, q.Secret)))
}

func codeOf(err error) string {
	if err == nil {
		return ""
	}
	return string(apierror.From(err).Code)
}
