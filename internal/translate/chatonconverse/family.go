package chatonconverse

import (
	"regexp"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// family is what the models of a vendor take besides what all of Converse's do.
type family struct {
	topK     func(extra *translate.Writer, n int64)      // nil: not at all
	thinking func(t *translation, r translate.Reasoning) // nil: it cannot be asked for
	sampling catalog.Sampling                            // "" = free
	forced   bool                                        // a choice can require a tool
	caches   caching
	later    bool                 // a cache can be kept for an hour
	strict   bool                 // the schema of a tool can be enforced
	signs    bool                 // thoughts have signatures, and return
	rules    catalog.Capabilities // Claude's
}

// caching is where the request says what is cached.
type caching int

const (
	cachesNothing caching = iota // it cannot
	cachesTexts                  // behind texts; behind a tool it is refused
	cachesAll
)

// FamiliesDate is when the table was compared with the pages of Bedrock.
const FamiliesDate = "2026-11-24"

// families are by a part of the model's id.
var families = []struct {
	part string
	family
}{
	{claude, family{topK: plainTopK, thinking: (*translation).thinkLikeClaude, caches: cachesAll, later: true, strict: true, signs: true}},
	{"amazon.nova-2", family{topK: novaTopK, thinking: (*translation).thinkLikeNova, forced: true, caches: cachesTexts}},
	{"amazon.nova", family{topK: novaTopK, forced: true, caches: cachesTexts}},
	{"openai.gpt-oss", family{thinking: (*translation).thinkByEffort, strict: true}},
	{"deepseek.v3", family{thinking: (*translation).thinkByEffort, strict: true}},
	{"deepseek", family{}},
	{"meta.llama", family{}},
	{"mistral", family{topK: plainTopK, forced: true}},
}

// claude is in the ids of Anthropic's models, whose rules differ by version.
const claude = "anthropic.claude"

// old are those before Claude 4.5.
var old = regexp.MustCompile(`claude-(v2|instant|3|(opus|sonnet)-4-(1|20))`)

// familyOf returns what a model takes. Others take what all do.
func familyOf(model string) family {
	for _, f := range families {
		if !strings.Contains(model, f.part) {
			continue
		}
		if f.part == claude {
			f.rules = catalog.CapabilitiesOf(model)
			f.forced, f.sampling = f.rules.ForcedTools, f.rules.Sampling
			if old.MatchString(model) {
				f.later, f.strict = false, false
			}
		}
		return f.family
	}
	return family{forced: true}
}

func plainTopK(extra *translate.Writer, n int64) { extra.IntMember("top_k", n) }

func novaTopK(extra *translate.Writer, n int64) {
	extra.Object("inferenceConfig")
	extra.IntMember("topK", n)
	extra.End()
}
