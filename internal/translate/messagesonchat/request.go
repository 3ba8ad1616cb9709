// Package messagesonchat serves a caller of Anthropic's Messages API by a provider that has chat
// completions. A further translation can follow: its Stream also takes the chunks of another one.
//
//	chat, original, err := messagesonchat.Request(body, stream, options)             // for the provider
//	message, sum, err := messagesonchat.Result(nil, completion, original, call, id)  // for the caller
//	events := messagesonchat.NewStream(original, call, id)                           // the same, streamed
package messagesonchat

import (
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/chat"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/conversation"
)

// Options is what a translation depends on besides the request.
type Options struct {
	// UpstreamModel is the model as the provider calls it.
	UpstreamModel string

	// Version is the version of the API that the caller speaks, one of those that package anthropic
	// knows.
	Version string

	// MaxOutput is the limit of the output in tokens that the provider gets, instead of the
	// request's max_tokens. 0 leaves the request's own.
	MaxOutput int64

	// MaxTokensField is the provider's name for max_tokens: max_completion_tokens, which is the
	// default, or max_tokens.
	MaxTokensField string

	// OpenRouter says that the provider knows what OpenRouter adds to chat completions: top_k,
	// cache_control, the object reasoning, and URLs of files.
	OpenRouter bool

	// Responses says that the chat request is translated on to the Responses API. There stop
	// sequences have no counterpart.
	Responses bool

	// Chat is what the provider takes of chat completions.
	Chat chat.Options

	// SignedReasoning says that the provider gives signatures of its reasoning in
	// reasoning_details, and wants them back there. A caller who asked for thinking keeps them as
	// signatures of its blocks.
	SignedReasoning bool

	// Prefill says that the model continues an assistant message at the end of the request. By
	// default such a request is refused.
	Prefill bool

	// Reasons and NoReasoning say what is known of the model: whether it reasons. To one that does
	// not no effort is sent, and to one of which neither is known not the effort high: that is the
	// default of the Messages API, which Claude Code always names, and models that do not reason
	// refuse it.
	Reasons, NoReasoning bool

	// Efforts are the efforts of reasoning that the model knows. The default is low, medium and
	// high, and for OpenRouter also xhigh.
	Efforts []string

	// InputTokens is an estimate of the input in tokens. A stream shows it until the provider
	// reports the number.
	InputTokens int64
}

// Original is what the answer needs of the caller's request. [Request] makes it; it does not change
// afterwards.
type Original struct {
	names       translate.Names // the caller's names of tools, by those that the provider got
	thinking    bool            // the caller gets the reasoning
	signed      bool            // and its signatures
	inputTokens int64
}

// translation is one request on its way.
type translation struct {
	opt      Options
	body     translate.Reader
	out      translate.Writer // the chat request so far
	original *Original
}

// Request translates a Messages request, a JSON object that has a model. The result is the chat
// request for the provider, streamed if the caller asked for it. It reads b as it was parsed,
// without the edits that b has collected. The error is a [*apierror.Error] with status 400 that
// names the field which a chat request cannot carry, or whose value is invalid. Neither result
// refers to b.
func Request(b *jsonscan.Body, stream bool, opt Options) (request []byte, original *Original, err error) {
	t := begin(translate.Read(b, &err), opt)
	c := t.read(opt.Chat.Demands())
	t.out = translate.WriteTo(make([]byte, 0, len(b.Data())+len(b.Data())/8+512))
	opt.Chat.PutRequest(&t.out, t.body, opt.UpstreamModel, c, stream, t.putSettings, t.putSingle)
	if err != nil {
		return nil, nil, err
	}
	t.original.names = c.Names()
	return t.out.Bytes(), t.original, nil
}

// Read returns a Messages request for a provider of another API than chat completions.
func Read(b *jsonscan.Body, opt Options) (*conversation.Request, *Original) {
	t := begin(translate.Read(b, new(error)), opt)
	t.out.Object()
	t.out.StringMember("model", opt.UpstreamModel)
	t.putSettings()
	t.putSingle()
	t.out.End()
	return &conversation.Request{Settings: translate.OpenInside(t.body, t.out.Bytes(), ""), Size: len(b.Data()), Read: t.read}, t.original
}

func begin(body translate.Reader, opt Options) *translation {
	check(body, opt.Version)
	return &translation{opt: opt, body: body, original: &Original{inputTokens: opt.InputTokens}}
}

// read reads the conversation.
func (t *translation) read(rules *conversation.Rules) *conversation.Conversation {
	to := conversation.Build(t.body, rules)
	in := input{to: to, opt: &t.opt}
	in.read(t.body)
	readTools(to, t.body)
	return to.Finish()
}

// putSettings writes the fields beside the conversation.
func (t *translation) putSettings() {
	fields.PutKept(&t.out, t.body)
	t.putLimit()
	t.putStop()
	t.putTopK()
	t.putReasoning()
	t.putUser()
	t.putTier()
	t.out.Member("cache_control", t.opt.Chat.Demands().CacheOf(t.body)) // the automatic breakpoint
	putFormat(&t.out, t.body)
}

// putSingle writes that the caller wants one call at a time.
func (t *translation) putSingle() {
	if singleCall(t.body) {
		t.out.BoolMember("parallel_tool_calls", false)
	}
}
