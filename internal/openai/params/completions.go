package params

import (
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

// UsualCompletion is the limit of a completion that asks for none, in tokens (OpenAI, vLLM).
const UsualCompletion = 16

// ParseCompletions reads a request of OpenAI's older API as [ParseChat] reads a chat one. It must have
// `prompt`: a text, a list of texts, tokens, or lists of tokens.
func ParseCompletions(b *jsonscan.Body) (Request, error) {
	req, err := parse(b, "prompt", textOrList, aTextOrList)
	if err != nil {
		return req, err
	}
	req.Choices = prompts(b) * choices(b)
	return req, req.readStreamOptions(b)
}

// CompletionsLimits is [ChatLimits] for a request that [ParseCompletions] accepted. The choices are those
// that the provider makes, best_of included, for all prompts.
func CompletionsLimits(b *jsonscan.Body) (RequestedLimits, error) {
	l, err := limits(b, "prompt", []string{"max_tokens"}, 0) // 0 with `echo`: the probabilities of the prompt
	if err != nil {
		return l, err
	}
	n, best := choices(b), integer(b, "best_of", 1)
	if n < 1 || n > maxN || best < 1 || best > maxN {
		return l, apierror.New(apierror.InvalidValue, "%q and %q must be integers from 1 to %d", "n", "best_of", maxN).WithParam("n")
	}
	of := prompts(b)
	if l.Choices = of * max(n, best); of > openai.MaxTexts || l.Choices > openai.MaxTexts {
		return l, apierror.New(apierror.InvalidValue, "the request asks for more than %d completions", openai.MaxTexts).WithParam("prompt")
	}
	l.Messages = int(of)
	if l.Output == 0 {
		l.Output = UsualCompletion
	}
	return l, nil
}

// CompletionsReferences is [References] for a body whose `prompt` is text.
func CompletionsReferences(b *jsonscan.Body) (Refs, error) {
	return references(b, Refs{promptIsText: true})
}

// Echoes reports whether the answers to a request begin with its prompt.
func Echoes(b *jsonscan.Body) bool {
	m, ok := member(b, "echo")
	return ok && m.Kind == 't'
}

// prompts returns how many prompts a request has. A list of tokens is one.
func prompts(b *jsonscan.Body) (n int64) {
	for e := range jsonscan.AllElements(value(b, "prompt")) {
		if e.Kind == '0' {
			return 1
		}
		n++
	}
	return max(n, 1)
}
