// Package embeddingsongemini serves a caller of OpenAI's embeddings by a provider that has Google's:
//
//	batchEmbedContents  {"requests": [{"content": {"parts": [{"text"}]}, …}]}
//	                 →  {"embeddings": [{"values"}], "usageMetadata": {"promptTokenCount"}}
//	predict             {"instances": [{"content"}], "parameters": {…}}
//	                 →  {"predictions": [{"embeddings": {"values", "statistics": {"token_count"}}}]}
//
// The Gemini API has the first, Vertex AI the first for Gemini's models and the second for older ones.
// Texts that are more than one request may have are sent in several.
//
// Sources: Google's GenAI SDK for Python 3.4.0 and Google's pages on embeddings of the Gemini API and
// of Vertex AI. Nothing here was tried against an account.
package embeddingsongemini

import (
	"regexp"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/embedding"
)

// Original is what of a request its answer needs. [Request] makes it.
type Original struct {
	model   string // as the provider calls it
	vertex  bool   // the provider is Vertex AI
	predict bool   // the model is asked by predict
	task    task
	size    int64    // dimensions; 0: the model's own
	texts   [][]byte // what is embedded, as JSON strings
	base64  bool     // the caller wants vectors in this form
}

const (
	// batchTexts and predictTexts are what one request may have. All texts of predict may have 20,000
	// tokens together; most text has two bytes a token or more.
	batchTexts   = 100
	predictTexts = 250
	predictBytes = 40_000
)

// fields is the table of the fields of a request: OpenAI's, and those that OpenRouter adds.
var fields = translate.Fields{
	"dimensions":      translate.Mapped,
	"encoding_format": translate.Mapped,
	"input":           translate.Mapped,
	"input_type":      translate.Mapped,
	"model":           translate.Mapped,
	"stream":          translate.Ignored, // it is false

	"metadata": translate.Ignored,
	"models":   translate.Ignored,
	"provider": translate.Ignored,
	"user":     translate.Ignored,
}

// Request translates an embeddings request that params.ParseEmbeddings accepted. The error is a
// [*apierror.Error] with status 400 that names a field of the caller's. Neither result refers to b. The
// model is as the provider calls it.
func Request(b *jsonscan.Body, model string, vertex bool) (body []byte, original *Original, err error) {
	request := translate.Read(b, &err)
	fields.Check(request, nil)
	model = strings.TrimPrefix(model, "models/")
	o := &Original{model: model, vertex: vertex, predict: vertex && !isGemini(model)}
	o.texts, o.base64 = embedding.Texts(request), embedding.Base64(request)
	o.readTask(request)
	if _, o.size = request.Int("dimensions", 1); err != nil {
		return nil, nil, err
	}
	return o.body(o.next(0)), o, nil
}

// isGemini reports whether Vertex AI has batchEmbedContents for a model, as the SDK decides.
func isGemini(model string) bool { return strings.Contains(model, "gemini") }

// LeftOut returns nil: a field that Google lacks is refused, or changes nothing.
func (o *Original) LeftOut() []string { return nil }

// task is what embeddings are for. Gemini's first model and those before it have a field for it, later
// ones a prefix of the text.
type task struct{ field, prefix string }

var tasks = map[string]task{
	"classification":       {"CLASSIFICATION", "task: classification | query: "},
	"clustering":           {"CLUSTERING", "task: clustering | query: "},
	"code_retrieval_query": {"CODE_RETRIEVAL_QUERY", "task: code retrieval | query: "},
	"fact_verification":    {"FACT_VERIFICATION", "task: fact checking | query: "},
	"question_answering":   {"QUESTION_ANSWERING", "task: question answering | query: "},
	"retrieval_document":   {"RETRIEVAL_DOCUMENT", "title: none | text: "},
	"retrieval_query":      {"RETRIEVAL_QUERY", "task: search result | query: "},
	"semantic_similarity":  {"SEMANTIC_SIMILARITY", "task: sentence similarity | query: "},
}

// words are those that other providers have for tasks.
var words = map[string]string{
	"document": "retrieval_document", "passage": "retrieval_document", "search_document": "retrieval_document",
	"query": "retrieval_query", "search_query": "retrieval_query",
}

// firstGemini are the models of Gemini that have a field for the task.
var firstGemini = regexp.MustCompile(`^gemini-embedding-(001|exp)`)

// readTask reads input_type.
func (o *Original) readTask(request translate.Reader) {
	typ := request.DecodedText("input_type")
	if typ == "" {
		return
	}
	word := strings.ToLower(typ)
	if same, ok := words[word]; ok {
		word = same
	}
	var known bool
	if o.task, known = tasks[word]; !known {
		request.Fail(translate.UnsupportedValue("input_type", typ))
	}
	if o.predict || firstGemini.MatchString(o.model) {
		o.task.prefix = ""
	} else {
		o.task.field = ""
	}
}

// next returns the texts of the request that begins with a text, by their numbers.
func (o *Original) next(from int) (first, end int) {
	if !o.predict {
		return from, min(from+batchTexts, len(o.texts))
	}
	size := 0
	for end = from; end < len(o.texts) && end < from+predictTexts; end++ {
		if size += len(o.texts[end]); size > predictBytes && end > from {
			break
		}
	}
	return from, end
}

// body returns the request for some texts.
func (o *Original) body(from, end int) []byte {
	list, element := `{"requests":[`, o.appendContent
	if o.predict {
		list, element = `{"instances":[`, o.appendInstance
	}
	size := len(list)
	for _, text := range o.texts[from:end] {
		size += len(text) + len(o.model) + 200 // what stands around it
	}
	out := append(make([]byte, 0, size), list...)
	for _, text := range o.texts[from:end] {
		out = element(append(translate.AppendComma(out), '{'), text)
		out = append(out, '}')
	}
	out = append(out, ']')
	if o.predict {
		out = o.appendSettings(append(translate.AppendKey(out, "parameters"), '{'))
		out = append(out, '}')
	}
	return append(out, '}')
}

// appendContent appends the members of a request in batchEmbedContents. The places of the settings
// are those of the SDK.
func (o *Original) appendContent(out, text []byte) []byte {
	if !o.vertex {
		out = append(translate.AppendKey(out, "model"), `"models/`...)
		name := jsonscan.AppendString(nil, o.model)
		out = append(out, name[1:]...)
	}
	out = append(translate.AppendKey(out, "content"), `{"role":"user","parts":[{"text":"`...)
	out = append(append(append(out, o.task.prefix...), text[1:]...), "}]}"...)
	if o.vertex {
		out = append(translate.AppendKey(out, "embedContentConfig"), '{')
	}
	if o.task.field != "" {
		out = translate.AppendTextMember(out, "taskType", []byte(o.task.field))
	}
	if out = o.appendSettings(out); o.vertex {
		out = append(out, '}')
	}
	return out
}

// appendInstance appends the members of an instance of predict.
func (o *Original) appendInstance(out, text []byte) []byte {
	out = translate.AppendMember(out, "content", text)
	if o.task.field != "" {
		out = translate.AppendTextMember(out, "task_type", []byte(o.task.field))
	}
	return out
}

// appendSettings appends what predict has once and batchEmbedContents for each text. Vertex AI would
// cut a text that is too long, and say so only in the answer.
func (o *Original) appendSettings(out []byte) []byte {
	if o.size > 0 {
		out = translate.AppendIntMember(out, "outputDimensionality", o.size)
	}
	if o.vertex {
		out = translate.AppendMember(out, "autoTruncate", []byte("false"))
	}
	return out
}
