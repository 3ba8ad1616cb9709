package testprovider

// ThinkingText is what every model thinks when thinking is asked for.
const ThinkingText = "The user wants an answer. I will give one."

// thinking checks the mode of thinking with what does not go with it. Which
// modes there are differs by model; here are all.
func (p *messagesParser) thinking() error {
	b, t := &p.body, &p.body.Thinking
	switch t.Type {
	case "":
		if p.out.Has("thinking") {
			return errField("thinking.type", "Field required")
		}
		return nil
	case "disabled":
		return nil
	case "adaptive":
	case "enabled":
		if t.Budget < minThinking {
			return errField("thinking.enabled.budget_tokens", "Input should be greater than or equal to %d", minThinking)
		}
		if b.MaxTokens != nil && t.Budget >= *b.MaxTokens {
			return errPlain("`max_tokens` must be greater than `thinking.budget_tokens`.")
		}
		if c := b.ToolChoice; c != nil && (c.Type == "any" || c.Type == "tool") {
			return errPlain("Thinking may not be enabled when tool_choice forces tool use.")
		}
		if p.lastUses && p.lastStart != "thinking" && p.lastStart != "redacted_thinking" {
			return errPlain("messages.%d.content.0.type: Expected `thinking` or `redacted_thinking`, but found `%s`. When `thinking` is enabled, a final `assistant` message must start with a thinking block.",
				p.usedAt, p.lastStart)
		}
	default:
		return errField("thinking", "Input tag '%s' found using 'type' does not match any of the expected tags: 'adaptive', 'disabled', 'enabled'", t.Type)
	}
	switch {
	case t.Display != "" && t.Display != "summarized" && t.Display != "omitted":
		return errField("thinking."+t.Type+".display", "Input should be 'summarized' or 'omitted'")
	case b.Temperature != nil && *b.Temperature != 1:
		return errPlain("`temperature` may only be set to 1 when thinking is enabled.")
	case b.TopK != nil:
		return errPlain("`top_k` must be unset when thinking is enabled.")
	case b.TopP != nil && *b.TopP < 0.95:
		return errPlain("`top_p` must be greater than or equal to 0.95 or unset when thinking is enabled.")
	case p.out.Messages[len(p.out.Messages)-1].Role == "assistant":
		return errPlain("This model does not support assistant message prefill. The conversation must end with a user message.")
	}
	p.out.Thinks, p.out.ThinkingOmitted = true, t.Display == "omitted"
	return nil
}
