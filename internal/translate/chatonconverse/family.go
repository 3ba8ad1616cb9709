package chatonconverse

import (
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// family is what the models of a vendor take besides what all of Converse's do.
type family struct {
	topK     func(extra []byte, n int64) []byte                            // nil: not at all
	thinking func(extra []byte, r translate.Reasoning, limit int64) []byte // nil: it cannot be asked for
	// keepsThoughts says that a call of a tool returns with the thoughts before it.
	keepsThoughts bool
	forced        bool // a choice can require a tool
	caches        bool // the request says what is cached
}

// FamiliesDate is when the table was compared with the pages of Bedrock.
const FamiliesDate = "2026-11-23"

// families are by a part of the model's id.
var families = []struct {
	part string
	family
}{
	{"anthropic.claude", family{topK: plainTopK, thinking: claudeThinking, keepsThoughts: true, forced: true, caches: true}},
	{"amazon.nova-2", family{topK: novaTopK, thinking: novaThinking, forced: true, caches: true}},
	{"amazon.nova", family{topK: novaTopK, forced: true, caches: true}},
	{"openai.gpt-oss", family{thinking: effortThinking}},
	{"deepseek.v3", family{thinking: effortThinking}},
	{"deepseek", family{}},
	{"meta.llama", family{}},
	{"mistral", family{topK: plainTopK, forced: true}},
}

// familyOf returns what a model takes. Others take what all do.
func familyOf(model string) family {
	for _, f := range families {
		if strings.Contains(model, f.part) {
			return f.family
		}
	}
	return family{forced: true}
}

func plainTopK(extra []byte, n int64) []byte { return translate.AppendIntMember(extra, "top_k", n) }

func novaTopK(extra []byte, n int64) []byte {
	extra = append(translate.AppendKey(extra, "inferenceConfig"), '{')
	return append(translate.AppendIntMember(extra, "topK", n), '}')
}

const (
	// leastBudget is the smallest budget of Claude's thoughts, in tokens.
	leastBudget = 1024
	// usualOutput stands for the output where nobody limits it, to give an effort its part.
	usualOutput = 16_384
)

func claudeThinking(extra []byte, r translate.Reasoning, limit int64) []byte {
	budget := r.Budget
	if budget == 0 {
		if limit == 0 {
			limit = usualOutput
		}
		budget = limit * translate.EffortShare[r.Effort] / 100
	}
	extra = append(translate.AppendKey(extra, "thinking"), `{"type":"enabled"`...)
	return append(translate.AppendIntMember(extra, "budget_tokens", max(budget, leastBudget)), '}')
}

func novaThinking(extra []byte, r translate.Reasoning, _ int64) []byte {
	extra = append(translate.AppendKey(extra, "reasoningConfig"), `{"type":"enabled"`...)
	return append(translate.AppendTextMember(extra, "maxReasoningEffort", []byte(effortOf(r))), '}')
}

func effortThinking(extra []byte, r translate.Reasoning, _ int64) []byte {
	return translate.AppendTextMember(extra, "reasoning_effort", []byte(effortOf(r)))
}

// effortOf returns low, medium or high.
func effortOf(r translate.Reasoning) string {
	switch {
	case r.Effort == "minimal", r.Effort == "" && r.Budget < 5_000:
		return "low"
	case r.Effort == "xhigh", r.Effort == "max", r.Effort == "" && r.Budget >= 10_000:
		return "high"
	case r.Effort == "":
		return "medium"
	}
	return r.Effort
}
