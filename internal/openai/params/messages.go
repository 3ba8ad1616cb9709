package params

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

// messagesOutput is the one field that limits the output of a Messages request.
const messagesOutput = "max_tokens"

// ParseMessages reads a request of Anthropic's Messages API as [ParseChat] reads a chat one. It must
// have `messages`, an array, and `max_tokens`, an integer of at least 0: 0 only warms the provider's
// cache.
func ParseMessages(b *jsonscan.Body) (Request, error) {
	req, err := ParseRouterMessages(b)
	if _, ok := member(b, messagesOutput); !ok && err == nil {
		err = missing(messagesOutput)
	}
	return req, err
}

// ParseRouterMessages is [ParseMessages] for OpenRouter's route, where `max_tokens` may be missing.
func ParseRouterMessages(b *jsonscan.Body) (Request, error) {
	req, err := parseMessages(b)
	if err == nil {
		_, err = messagesOutputOf(b)
	}
	return req, err
}

// ParseCountTokens reads a request that only counts the tokens of a Messages request. It has no
// `max_tokens`.
func ParseCountTokens(b *jsonscan.Body) (Request, error) {
	req, err := parseMessages(b)
	req.Stream = false
	return req, err
}

func parseMessages(b *jsonscan.Body) (Request, error) {
	req, err := parse(b, "messages", "[", "an array")
	req.streamOptions = -1
	if _, ok := member(b, fallbackToken); ok && err == nil {
		err = apierror.New(apierror.UnsupportedParameter, "%q is not possible here: which models answer is for the gateway to decide", fallbackToken).WithParam(fallbackToken)
	}
	return req, err
}

// fallbackToken pays for a fallback that another call has begun at the provider.
const fallbackToken = "fallback_credit_token"

func messagesOutputOf(b *jsonscan.Body) (int64, error) {
	i, ok := b.Find(messagesOutput)
	if !ok {
		return 0, nil
	}
	n, ok := jsonscan.Int(b.Value(i))
	if !ok || n < 0 || n > openai.MaxTokens {
		return 0, wrong(messagesOutput, "an integer of at least 0")
	}
	return n, nil
}

// RequireOutput adds a limit of the output to a Messages request that has none, for the API requires one.
func RequireOutput(b *jsonscan.Body, n int64) {
	if _, has := b.Find(messagesOutput); !has {
		b.Add(messagesOutput, strconv.AppendInt(nil, n, 10))
	}
}

// MessagesLimits is [ChatLimits] for a request that [ParseMessages] accepted. The tokens of thinking
// are part of max_tokens. A request for 0 tokens counts as one for 1, because 0 is no limit.
func MessagesLimits(b *jsonscan.Body) (RequestedLimits, error) {
	l := RequestedLimits{Choices: 1, Param: messagesOutput, Other: otherOutput(b, []string{messagesOutput}), Messages: count(value(b, "messages"))}
	n, err := messagesOutputOf(b)
	if i, ok := b.Find(messagesOutput); ok {
		l.Output, l.members = max(n, 1), []int{i}
	}
	return l, err
}

// EncodeMessages turns a caller's Messages request into the provider's: the model as the provider
// knows it.
func EncodeMessages(b *jsonscan.Body, req Request, upstreamModel string) {
	req.setModel(b, upstreamModel)
}

// MessagesReferences is [References] for a Messages request, whose tools have other types.
func MessagesReferences(b *jsonscan.Body) (Refs, error) { return references(b, Refs{anthropic: true}) }

// messagesTools are the tools that the caller runs and the provider describes: their names and the
// date of a version. A tool of type custom, or without a type, is the caller's own.
var messagesTools = regexp.MustCompile(`^(bash|text_editor|memory|computer)_[0-9]{8}$`)

// messagesTool returns the kind of a tool by its type, false for one that runs at the provider, or
// may: web_search_…, web_fetch_…, code_execution_…, tool_search_…, mcp_toolset, any new one.
func messagesTool(name string) (toolKind, bool) {
	switch {
	case name == "custom":
		return clientRun, true
	case messagesTools.MatchString(name):
		return clientRun | builtIn, true
	}
	return 0, false
}

// MessagesContentOf is [ContentOf] for a Messages request with these values of anthropic-beta. Its
// `fallbacks` are models that the gateway itself asks, and reserves for.
func MessagesContentOf(b *jsonscan.Body, betas []string) Content {
	c := ContentOf(b)
	for _, list := range betas {
		for beta := range strings.SplitSeq(list, ",") {
			c.LongWindow = c.LongWindow || longWindow.MatchString(strings.TrimSpace(beta))
		}
	}
	return c
}

// longWindow are the beta features that give a model a longer window, at a higher price:
// context-1m-2025-08-07.
var longWindow = regexp.MustCompile(`^(?i)context-[0-9]+[km](-|$)`)

// container reads the field of that name: the container in which the provider runs code, with what
// is in it, or its id alone.
func (r *Refs) container(value []byte) {
	if value[0] == 'n' {
		return
	}
	r.Tools.AddHosted("container", r.outermost("container"))
	path := r.path("container")
	switch value[0] {
	case '"':
		r.add(path, "", openai.KindContainer, value)
	case '{':
		for m := range jsonscan.AllMembers(value) {
			if string(foldKey(m.DecodedKey(value))) == "id" && m.Kind != 'n' {
				r.add(path, "id", openai.KindContainer, m.Value(value))
			}
		}
		r.walk("container", value)
	default:
		r.fail(wrong(path, "an id or an object"))
	}
}

// CheckThinking refuses a request whose budget of thinking does not fit an output of n tokens, to
// which the gateway limits it. The provider would refuse it by a field that the caller did not send.
func CheckThinking(b *jsonscan.Body, n int64) error {
	budget, ok := jsonscan.Int(nested(value(b, "thinking"), "budget_tokens"))
	if ok && budget >= n {
		return apierror.New(apierror.InvalidValue, "%q is %d, but %q is limited to %d here, and it must be more",
			"thinking.budget_tokens", budget, messagesOutput, n).WithParam("thinking.budget_tokens")
	}
	return nil
}
