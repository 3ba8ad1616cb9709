package wire

import (
	"cmp"
	"net/http"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/anthropic"
	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/params"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// Operation is an API of model calls as callers use it. The steps of a call read its row instead of
// asking which operation it is.
type Operation struct {
	Name provider.Operation // in the catalog
	Span string             // gen_ai.operation.name, of which the conventions have only some; "": no model is called
	// List is the field that has the messages, or the inputs.
	List string
	// Generates says that the answer is text, whose tokens are counted and limited. Else only the
	// prompt counts, and each of its inputs may be as long as the model's window.
	Generates bool
	// Units says that something other than tokens is paid for, which the request bounds.
	Units bool
	// Compacts says that the answer is a compaction: no field of the request limits it.
	Compacts bool
	// Deletes says that what an answer names is no longer kept.
	Deletes bool
	// TwoSpellings says that the fields of a request may be in camel case or in snake case.
	TwoSpellings bool
	// Form names the fields of a multipart form that are a number or a boolean, Files those that are
	// files. Nil: there are no forms.
	Form, Files []string
	// Made is the most that an answer of a model has besides text. Nil: nothing.
	Made func(l *params.RequestedLimits, m *catalog.Model) params.Made
	// Estimate begins the answer that the gateway itself gives for providers that have no API which serves
	// it; a number of tokens follows. It is "" if there is none.
	Estimate string
	// Instead is the API by which models are called that no provider serves by this one, for the
	// refusal. It is "" for an API that a model is said not to have.
	Instead string
	// Fallbacks says that the API has the field of that name, with further models.
	Fallbacks bool
	// OutputField is the only name that a provider knows for the limit of an output, "" if it knows the
	// usual ones. Nil: there is one name.
	OutputField func(*provider.Provider) string

	// Parse reads what the gateway acts on. Path is what the path of the request says of that, zero for
	// an API whose body says it. The error is a 400.
	Parse func(b *jsonscan.Body, h http.Header, path params.Request) (params.Request, error)
	// Limits reads how much the request asks for. The error is a 400. Nil, like Content, for a count.
	Limits func(b *jsonscan.Body) (params.RequestedLimits, error)
	// References reads what the request asks of the provider's account. The tools are complete with an
	// error too, which is a 400.
	References func(b *jsonscan.Body) (params.Refs, error)
	// Fields are those whose price is known. Under a hard budget others are refused.
	Fields params.Fields
	// Content reads what costs more than its bytes.
	Content func(b *jsonscan.Body, h http.Header) params.Content
	// Heartbeat is what keeps the stream of a caller alive. Nil: a comment.
	Heartbeat func(h http.Header) Heartbeat

	Dial Dial // opens the socket of a session; nil: a request is sent over HTTP
	// Routes are how a request can reach a provider, the best first. A provider gets the first whose
	// API it has.
	Routes []Route
}

// Path is what the path of a request says where the body does not. The zero value is nothing.
type Path struct {
	Model  string
	Stream bool
	Array  bool // a whole answer is wanted as the only element of an array

	Response string // id of the response that the request is about
	Query    string // for the provider, encoded
}

// Request returns what is known of a request before its body is read.
func (p Path) Request() params.Request {
	return params.Request{Model: p.Model, Stream: p.Stream, Array: p.Array, Response: p.Response, Query: p.Query}
}

// Route is how a request reaches providers that have an API.
type Route struct {
	Wire *Wire
	// Encode writes the request: as it is with a few edits, or translated. The error is a 400.
	Encode func(Encoding) (*Sending, error)
	// Translated says that the provider's API is another one.
	Translated bool
	// Stateless says that the translation refuses or leaves out what names stored state.
	Stateless bool
	// DropsTools reports whether the provider gets no tools but those that the caller runs. Nil: no.
	DropsTools func(*provider.Provider) bool
}

// Heartbeat is what keeps the stream of a caller alive. The zero value is a comment.
type Heartbeat struct {
	Comment []byte        // instead of the usual comment
	Event   []byte        // instead of a comment
	Every   time.Duration // between two events; comments are sent in between
	Early   bool          // before the first event of the answer, too
}

// RouteTo returns how a request reaches a provider, nil if that has no API which serves it.
func (o *Operation) RouteTo(p *provider.Provider) *Route {
	for i := range o.Routes {
		if r := &o.Routes[i]; p.Has(r.Wire.Name) {
			return r
		}
	}
	return nil
}

// Chat is chat completions.
var Chat = &Operation{
	Name: provider.Chat, Span: "chat", List: "messages", Generates: true,
	OutputField: func(p *provider.Provider) string { return p.MaxTokensField },
	Parse:       inBody(params.ParseChat),
	Limits:      params.ChatLimits, References: params.References, Fields: params.ChatFields, Content: contentOf,
	Routes: []Route{
		{Wire: chatWire, Encode: encodeChat},
		{Wire: responsesWire, Encode: encodeChatOnResponses, Translated: true},
		{Wire: messagesWire, Encode: encodeChatOnMessages, Translated: true},
	},
}

// Responses is the Responses API. The families of OpenAI and OpenRouter have the same shapes here.
var Responses = &Operation{
	Name: provider.Responses, Span: "chat", List: "input", Generates: true,
	Parse:  inBody(params.ParseResponses),
	Limits: params.ResponsesLimits, References: params.References, Fields: params.ResponsesFields, Content: contentOf, Heartbeat: codexHeartbeat,
	Routes: []Route{
		{Wire: responsesWire, Encode: encodeResponses},
		{Wire: chatWire, Encode: encodeResponsesOnChat, Translated: true, Stateless: true, DropsTools: func(p *provider.Provider) bool {
			return !p.Translate.RefuseUnknownTools
		}},
		{Wire: messagesWire, Encode: encodeResponsesOnMessages, Translated: true, Stateless: true, DropsTools: func(*provider.Provider) bool { return true }},
	},
}

// Messages is Anthropic's Messages API.
var Messages = &Operation{
	Name: provider.Messages, Span: "chat", List: "messages", Generates: true, Fallbacks: true,
	Parse: versioned(params.ParseMessages), Limits: params.MessagesLimits, References: params.MessagesReferences, Fields: params.MessagesFields,
	Content: messagesContent,
	// Claude Code gives up a stream in which it sees no event for too long, and does not see comments.
	Heartbeat: func(http.Header) Heartbeat { return Heartbeat{Event: anthropic.Ping} },
	Routes: []Route{
		{Wire: messagesWire, Encode: encodeMessages},
		{Wire: chatWire, Encode: encodeMessagesOnChat, Translated: true, Stateless: true},
		{Wire: responsesWire, Encode: encodeMessagesOnResponses, Translated: true, Stateless: true},
	},
}

// CountTokens is the part of the Messages API that counts the tokens of a request and does not run it.
var CountTokens = &Operation{
	Name: provider.CountTokens, Span: "count_tokens", List: "messages", Estimate: `{"input_tokens":`,
	Parse: versioned(params.ParseCountTokens), References: params.MessagesReferences,
	Routes: []Route{{Wire: countWire, Encode: encodeCount}},
}

// InputTokens is the part of the Responses API that counts the tokens of a request and does not run it.
var InputTokens = &Operation{
	Name: provider.InputTokens, Span: "count_tokens", List: "input", Estimate: inputTokens,
	Parse: inBody(params.ParseInputTokens), References: params.References,
	Routes: []Route{{Wire: inputWire, Encode: encodeInputTokens}, {
		Wire: countWire, Encode: encodeInputTokensOnCount, Translated: true, Stateless: true, DropsTools: func(*provider.Provider) bool { return true },
	}},
}

// Compact is the part of the Responses API that makes a conversation shorter.
var Compact = &Operation{
	Name: provider.Compact, Span: "compact", List: "input", Generates: true, Compacts: true,
	Parse: inBody(params.ParseCompact), Limits: params.ResponsesLimits, References: params.References, Fields: Responses.Fields, Content: contentOf,
	Routes: []Route{{Wire: compactWire, Encode: encodeCompact}},
}

// Embeddings is the API of embeddings. The families of OpenAI and OpenRouter have the same shapes
// here. Gemini and Bedrock get it through an adapter.
var Embeddings = &Operation{
	Name: provider.Embeddings, Span: "embeddings", List: "input",
	Parse:      inBody(params.ParseEmbeddings),
	Limits:     func(b *jsonscan.Body) (params.RequestedLimits, error) { return params.EmbeddingsLimits(b), nil },
	References: params.References, Fields: params.EmbeddingsFields, Content: contentOf,
	Routes: list(embeddingsWire, &openai.Embeddings),
}

// Rerank is the API that ranks documents by a query. Cohere's, Jina's, vLLM's and OpenRouter's forms of
// it are alike, and each passes as it is.
var Rerank = &Operation{
	Name: provider.Rerank, Span: "rerank", List: "documents", Units: true,
	Parse:      inBody(params.ParseRerank),
	Limits:     func(b *jsonscan.Body) (params.RequestedLimits, error) { return params.RerankLimits(b), nil },
	References: params.References,
	Fields:     params.RerankFields,
	Content:    func(b *jsonscan.Body, _ http.Header) params.Content { return params.RerankContentOf(b) },
	Routes:     list(rerankWire, &openai.Ranking),
}

// Moderations is OpenAI's API that judges texts and images.
var Moderations = &Operation{
	Name: provider.Moderations, Span: "moderations", List: "input",
	Parse:      inBody(params.ParseModerations),
	Limits:     func(b *jsonscan.Body) (params.RequestedLimits, error) { return params.ListLimits(b, "input"), nil },
	References: params.References, Fields: params.ModerationsFields, Content: contentOf,
	Routes: list(moderationsWire, &openai.Moderations),
}

// Completions is OpenAI's older API, which continues a text: editors fill in code with it. A chat model
// would need another prompt, so no provider gets it translated.
var Completions = &Operation{
	Name: provider.Completions, Span: "text_completion", List: "prompt", Generates: true,
	Parse:  inBody(params.ParseCompletions),
	Limits: params.CompletionsLimits, References: params.CompletionsReferences,
	Fields: params.CompletionsFields, Content: contentOf,
	Routes: []Route{{Wire: completionsWire, Encode: encodeCompletions}},
}

// ReadForm reads a request that came as a form, nil if it did not. The error is a 400.
func (o *Operation) ReadForm(data []byte, h http.Header) (*params.Form, error) {
	if o.Form == nil {
		return nil, nil
	}
	return params.ReadForm(data, h.Get("Content-Type"), o.Form, o.Files)
}

// Images is OpenAI's API that makes pictures of a text.
var Images = &Operation{
	Name: provider.Images, Span: "images", List: "prompt", Units: true, Made: pictures,
	Parse:  inBody(params.ParseImages),
	Limits: params.ImageLimits, References: params.ImageReferences, Fields: params.ImageFields,
	Content: func(b *jsonscan.Body, _ http.Header) params.Content { return params.ImageContentOf(b) },
	Routes:  list(imagesWire, &openai.Images),
}

// RouterImages is OpenRouter's API that makes pictures of a text, and of others.
var RouterImages = &Operation{
	Name: provider.Images, Span: "images", List: "prompt", Units: true, Made: pictures,
	Parse: Images.Parse, Limits: params.ImageLimits, References: params.ImageReferences, Fields: params.ImageFields, Content: Images.Content,
	Routes: list(routerImages, &openai.RouterImages),
}

// ImageEdits is OpenAI's API that makes pictures of a text and of other pictures.
var ImageEdits = &Operation{
	Name: provider.ImageEdits, Span: "images", List: "prompt", Units: true, Made: pictures,
	Form:  []string{"n", "output_compression", "partial_images", "stream"},
	Files: []string{"image", "image[]", "mask"},
	Parse: Images.Parse, Limits: params.ImageLimits, References: params.ImageReferences, Fields: params.ImageEditFields, Content: Images.Content,
	Routes: list(imageEditsWire, &openai.Images),
}

func pictures(l *params.RequestedLimits, m *catalog.Model) params.Made {
	return l.Pictures(cmp.Or(m.Base, m.Name), m.MaxUnits, m.Price.PerPicture())
}

// Speech is OpenAI's and OpenRouter's API that speaks a text.
var Speech = &Operation{
	Name: provider.Speech, Span: "speech", List: "input", Units: true, Made: speech,
	Parse:      inBody(params.ParseSpeech),
	Limits:     func(b *jsonscan.Body) (params.RequestedLimits, error) { return params.SpeechLimits(b), nil },
	References: params.References,
	Fields:     params.SpeechFields, Content: contentOf,
	Routes: []Route{{Wire: speechWire, Encode: encodeSpeech}},
}

// Transcriptions is OpenAI's and OpenRouter's API that writes what is said in a sound.
var Transcriptions = &Operation{
	Name: provider.Transcriptions, Span: "transcription", Units: true, Made: transcript,
	Form:       []string{"stream"},
	Files:      []string{"file"},
	Parse:      inBody(params.ParseTranscription),
	Limits:     params.TranscriptionLimits,
	References: params.ImageReferences, // they have a text of the name prompt too
	Fields:     params.TranscriptsFields,
	Content:    func(b *jsonscan.Body, _ http.Header) params.Content { return params.TranscriptionContentOf(b) },
	Routes:     transcribe(transcriptionsWire),
}

// Translations is OpenAI's API that writes in English what is said in a sound.
var Translations = &Operation{
	Name: provider.Translations, Span: "translation", Units: true, Made: transcript,
	Form: Transcriptions.Form, Files: Transcriptions.Files, Parse: Transcriptions.Parse, Limits: Transcriptions.Limits,
	References: Transcriptions.References, Fields: Transcriptions.Fields, Content: Transcriptions.Content,
	Routes: transcribe(translationsWire),
}

func contentOf(b *jsonscan.Body, _ http.Header) params.Content { return params.ContentOf(b) }

func messagesContent(b *jsonscan.Body, h http.Header) params.Content {
	return params.MessagesContentOf(b, h[anthropic.BetaHeader])
}

// inBody parses a request that says all in its body.
func inBody(parse func(*jsonscan.Body) (params.Request, error)) func(*jsonscan.Body, http.Header, params.Request) (params.Request, error) {
	return func(b *jsonscan.Body, _ http.Header, _ params.Request) (params.Request, error) { return parse(b) }
}
