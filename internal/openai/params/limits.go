package params

import (
	"slices"
	"strconv"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/units"
)

// maxN is the largest n that any provider accepts.
const maxN = 128

// RequestedLimits is how much a request asks for, as far as the request itself says.
type RequestedLimits struct {
	Messages int   // elements of messages or input
	Choices  int64 // n; 1 if absent
	Output   int64 // most output tokens of a choice; 0 if absent

	Units     units.Counts // the most of each unit that is no token
	Heard     int64        // milliseconds of the sound in the request; 0: unknown
	Unbounded bool         // the sound may be longer than Units says
	Picture   Picture      // what each picture is, that the request asks for

	// Param is the field that Output is from, or the usual one if Output is 0.
	Param string
	// Other is a field that limits the output at some servers, beside or instead of those of the API;
	// "" for none.
	Other string

	members []int // indexes of those that limit the output
}

// The fields that limit the output. If a chat request has both, the larger one counts: providers
// differ in which they apply.
var (
	chatOutput      = []string{"max_completion_tokens", "max_tokens"}
	responsesOutput = []string{"max_output_tokens"}
)

// outputNames are the names that servers have for a limit of the output, in lower case: OpenAI's,
// llama.cpp, Ollama, TGI and Transformers, vLLM's and Llama's own, Cohere and Anthropic's older APIs,
// Gemini. Where a server takes two, it decides which one counts: llama.cpp lets n_predict win.
var outputNames = setOf(`max_completion_tokens max_tokens max_output_tokens
	n_predict num_predict max_new_tokens min_new_tokens max_length max_gen_len max_gen_toks max_generated_tokens max_tokens_to_sample
	max_tokens_to_generate maxtokens maxoutputtokens maxnewtokens maxlength maxgenlen max_decode_steps`)

// optionFields are objects of options in which servers look for such names.
var optionFields = setOf(`options parameters generation_config generationconfig inferenceconfig sampling_params`)

func setOf(names string) map[string]bool {
	set := make(map[string]bool)
	for name := range strings.FieldsSeq(names) {
		set[name] = true
	}
	return set
}

// otherOutput returns the first field that limits the output by another name than the API's own.
func otherOutput(b *jsonscan.Body, own []string) string {
	data := b.Data()
	for _, m := range b.Members() {
		key := m.Key(data)
		switch folded := foldKey(key); {
		case m.Kind == 'n' || slices.Contains(own, string(key)):
		case outputNames[string(folded)]:
			return string(key)
		case optionFields[string(folded)] && m.Kind == '{':
			value := m.Value(data)
			for inner := range jsonscan.AllMembers(value) {
				if name := inner.DecodedKey(value); inner.Kind != 'n' && outputNames[string(foldKey(name))] {
					return string(key) + "." + string(name)
				}
			}
		}
	}
	return ""
}

// ChatLimits reads how much a chat request asks for that [ParseChat] accepted. The error is a
// [*apierror.Error] with status 400.
func ChatLimits(b *jsonscan.Body) (RequestedLimits, error) {
	l, err := limits(b, "messages", chatOutput, 1)
	if err == nil {
		l.Choices, err = within(b, "n", 1)
	}
	return l, err
}

// within returns an integer, 1 if it is absent. It refuses one that is less than least, or more than
// any provider takes.
func within(b *jsonscan.Body, key string, least int64) (int64, error) {
	n, ok := int64(1), true
	if text := value(b, key); text != nil {
		n, ok = jsonscan.Int(text)
	}
	if !ok || n < least || n > maxN {
		return n, apierror.New(apierror.InvalidValue, "%q must be an integer from %d to %d", key, least, maxN).WithParam(key)
	}
	return n, nil
}

// integer returns an integer, 0 if it is none.
func integer(b *jsonscan.Body, key string, absent int64) int64 {
	text := value(b, key)
	if text == nil {
		return absent
	}
	n, _ := jsonscan.Int(text)
	return n
}

// choices returns n: 1 if it is absent, 0 if it is no integer.
func choices(b *jsonscan.Body) int64 { return integer(b, "n", 1) }

// ResponsesLimits is [ChatLimits] for a request that [ParseResponses] accepted.
func ResponsesLimits(b *jsonscan.Body) (RequestedLimits, error) {
	return limits(b, "input", responsesOutput, 1)
}

// limits reads the fields of a list and of the output, which is least or more. A limit of no tokens counts
// as one of a single token.
func limits(b *jsonscan.Body, list string, output []string, least int64) (RequestedLimits, error) {
	l := RequestedLimits{Choices: 1, Param: output[0], Other: otherOutput(b, output), Messages: count(value(b, list))}
	for _, name := range output {
		i, ok := b.Find(name)
		if !ok {
			continue
		}
		l.members = append(l.members, i)
		if b.Members()[i].Kind == 'n' {
			continue
		}
		n, ok := jsonscan.Int(b.Value(i))
		if !ok || n < least || n > openai.MaxTokens {
			return l, wrong(name, "a positive integer")
		}
		if n = max(n, 1); n > l.Output {
			l.Output, l.Param = n, name
		}
	}
	return l, nil
}

// count returns the number of elements of an array; null and nil have none, and any other value is one.
func count(value []byte) (n int) {
	switch {
	case len(value) == 0 || value[0] == 'n':
		return 0
	case value[0] != '[':
		return 1
	}
	for range jsonscan.AllElements(value) {
		n++
	}
	return n
}

// SaysOnly reports whether the request limits its output by this field and has no other field of
// that meaning.
func (l RequestedLimits) SaysOnly(field string) bool { return l.Param == field && len(l.members) == 1 }

// SetOutput limits the output of a choice to n tokens, in the provider's field of that meaning (""
// = the usual one) and in no other. The body must be the one that the limits were read from, or
// have its members in the same order.
func (l RequestedLimits) SetOutput(b *jsonscan.Body, field string, n int64) {
	if field == "" {
		field = l.Param
	}
	value := strconv.AppendInt(nil, n, 10)
	done := false
	for _, i := range l.members {
		if !done && string(b.Members()[i].Key(b.Data())) == field {
			b.Set(i, value)
			done = true
		} else {
			b.Drop(i)
		}
	}
	if !done {
		b.Add(field, value)
	}
}
