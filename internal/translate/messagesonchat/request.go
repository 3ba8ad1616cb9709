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

	// Responses says that the chat request is translated on to the Responses API. There stop sequences
	// have no counterpart.
	Responses bool

	// ToolParts says that tool messages can have images and files, as another translation can take
	// them. By default these stand in the user message behind the tool messages.
	ToolParts bool

	// FileURLs says that files may have an https URL instead of their data.
	FileURLs bool

	// ReasoningContent says that the provider wants its reasoning back, as reasoning_content of the
	// assistant message that followed it. By default thinking blocks are left out.
	ReasoningContent bool

	// SignedReasoning says that the provider gives signatures of its reasoning in reasoning_details, and
	// wants them back there. A caller who asked for thinking keeps them as signatures of its blocks.
	SignedReasoning bool

	// Prefill says that the model continues an assistant message at the end of the request. By
	// default such a request is refused.
	Prefill bool

	// Reasons and NoReasoning say what is known of the model: whether it reasons. To one that does not
	// no effort is sent, and to one of which neither is known not the effort high: that is the default
	// of the Messages API, which Claude Code always names, and models that do not reason refuse it.
	Reasons, NoReasoning bool

	// Efforts are the efforts of reasoning that the model knows. The default is low, medium and high,
	// and for OpenRouter also xhigh.
	Efforts []string

	// InputTokens is an estimate of the input in tokens. A stream shows it until the provider
	// reports the number.
	InputTokens int64
}

// Original is what the answer needs of the caller's request. [Request] makes it; it does not change
// afterwards.
type Original struct {
	thinking    bool // the caller gets the reasoning
	signed      bool // and its signatures
	inputTokens int64
}

// translation is one request on its way.
type translation struct {
	opt      Options
	body     translate.Reader
	out      []byte // the chat request so far
	original *Original
}

// Request translates a Messages request, a JSON object that has a model. The result is the chat
// request for the provider, streamed if the caller asked for it. It reads b as it was parsed,
// without the edits that b has collected. The error is a [*apierror.Error] with status 400 that
// names the field which a chat request cannot carry, or whose value is invalid. Neither result
// refers to b.
func Request(b *jsonscan.Body, stream bool, opt Options) (chat []byte, original *Original, err error) {
	t := translation{opt: opt, body: translate.Read(b, &err), original: &Original{inputTokens: opt.InputTokens}}
	check(t.body, opt.Version)
	t.out = make([]byte, 0, len(b.Data())+len(b.Data())/8+512)
	t.out = append(t.out, `{"model":`...)
	t.out = jsonscan.AppendString(t.out, opt.UpstreamModel)
	t.out = appendMessages(t.out, t.body, opt)
	t.out = fields.AppendKept(t.out, t.body)
	t.putLimit()
	t.putStop()
	t.putTopK()
	t.putReasoning()
	t.putUser()
	t.putTier()
	t.putCacheControl()
	t.out = appendFormat(t.out, t.body)
	t.out = appendTools(t.out, t.body, &t.opt)
	if stream {
		t.out = append(t.out, `,"stream":true,"stream_options":{"include_usage":true}`...)
	}
	if err != nil {
		return nil, nil, err
	}
	return append(t.out, '}'), t.original, nil
}

func (t *translation) put(key string, value []byte) {
	t.out = translate.AppendMember(t.out, key, value)
}
