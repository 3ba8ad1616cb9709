package faults

import "slices"

// providerName is who answers behind OpenRouter.
const providerName = "Fake"

// What OpenRouter's answers have more, or different, than OpenAI's.

// routerObject brings a chat result or chunk, a response or an event into
// OpenRouter's form.
func routerObject(o object) object {
	o = member(o, "response", routerObject)
	o = member(o, "usage", func(u object) object {
		total, _ := u.Get("total_tokens").(int)
		// A thousandth of a cent a token.
		return u.With("cost", float64(total)/100_000).With("is_byok", false)
	})
	if !isChat(o) {
		return o
	}
	id, _ := o.Get("id").(string)
	o = o.With("id", "gen-"+id).With("provider", providerName).Without("service_tier")
	return choice(o, func(c object) object {
		c = member(c.With("native_finish_reason", c.Get("finish_reason")), "message", routerReasoning)
		return member(c, "delta", routerReasoning)
	})
}

// routerReasoning renames the reasoning of a message or a delta.
func routerReasoning(o object) object {
	text := o.Get("reasoning_content")
	if text == nil {
		return o
	}
	detail := object{}.With("type", "reasoning.text").With("text", text).With("index", 0)
	return o.Without("reasoning_content").With("reasoning", text).With("reasoning_details", []object{detail})
}

// Picture is the one in answers of chat that were asked for pictures too.
const Picture = "data:image/png;base64,iVBORw0KGgo="

// pictured puts a picture beside the text of a chat result, or into the chunk of a stream that ends it.
func pictured(o object) object {
	images := []object{object{}.With("type", "image_url").With("image_url", object{}.With("url", Picture)).With("index", 0)}
	return choice(o, func(c object) object {
		if c.Get("finish_reason") == nil {
			return c
		}
		add := func(m object) object {
			if o.Get("object") != "chat.completion" && m.Has("role") { // the chunk with the usage
				return m
			}
			return m.With("images", images)
		}
		return member(member(c, "message", add), "delta", add)
	})
}

// routerStream has the usage in a chunk with an empty delta that repeats the
// finish reason, and no usage in the others.
func routerStream(events []event) []event {
	events = noNullUsage(events)
	i := slices.IndexFunc(events, func(e event) bool { return e.Data.Has("usage") })
	if i > 0 && isChat(events[i-1].Data) {
		last := events[i-1].Data.Get("choices").([]object)[0]
		delta := object{}.With("role", "assistant").With("content", "")
		events[i].Data = events[i].Data.With("choices", []object{last.With("delta", delta)})
	}
	return events
}

// errorTypes are OpenRouter's words for statuses.
var errorTypes = map[int]string{
	400: "invalid_request", 401: "authentication", 402: "payment_required", 403: "permission_denied",
	404: "not_found", 408: "timeout", 413: "payload_too_large", 422: "unprocessable",
	429: "rate_limit_exceeded", 500: "server", 502: "provider_unavailable", 503: "provider_overloaded",
	504: "timeout", 529: "provider_overloaded",
}

func routerError(status int, code, message string) object {
	metadata := object{}.With("provider_name", providerName).With("raw", message)
	if code == "" {
		code = errorTypes[status]
	}
	if code != "" {
		metadata = metadata.With("error_type", code)
	}
	return object{}.With("code", status).With("message", message).With("metadata", metadata)
}
