// Package embeddingsongemini serves a caller of OpenAI's embeddings by a provider that has
// Google's:
//
//	batchEmbedContents  {"requests": [{"content": {"parts": [{"text"}]}, …}]}
//	                 →  {"embeddings": [{"values"}], "usageMetadata": {"promptTokenCount"}}
//	predict             {"instances": [{"content"}], "parameters": {…}}
//	                 →  {"predictions": [{"embeddings": {"values", "statistics": {"token_count"}}}]}
//
// The Gemini API has the first, Vertex AI the first for Gemini's models and the second for older
// ones. Texts that are more than one request may have are sent in several.
//
// Sources: Google's GenAI SDK for Python 3.4.0 and Google's pages on embeddings of the Gemini API
// and of Vertex AI. Nothing here was tried against an account.
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
	// batchTexts and predictTexts are what one request may have. All texts of predict may have
	// 20,000 tokens together; most text has two bytes a token or more.
	batchTexts   = 100
	predictTexts = 250
	predictBytes = 40_000
)

// Request translates an embeddings request that params.ParseEmbeddings accepted. The error is a
// [*apierror.Error] with status 400 that names a field of the caller's. Neither result refers to b.
// The model is as the provider calls it.
func Request(b *jsonscan.Body, model string, vertex bool) (body []byte, original *Original, err error) {
	request := translate.Read(b, &err)
	model = strings.TrimPrefix(model, "models/")
	o := &Original{model: model, vertex: vertex, predict: vertex && !isGemini(model)}
	o.texts, o.base64 = embedding.Read(request)
	o.readTask(request)
	if _, o.size = request.Int("dimensions", 1); err != nil {
		return nil, nil, err
	}
	return o.body(0, o.end(0)), o, nil
}

// isGemini reports whether Vertex AI has batchEmbedContents for a model, as the SDK decides.
func isGemini(model string) bool { return strings.Contains(model, "gemini") }

// LeftOut returns nil: a field that Google lacks is refused, or changes nothing.
func (o *Original) LeftOut() []string { return nil }

// task is what embeddings are for. Gemini's first model and those before it have a field for it,
// later ones a prefix of the text.
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

// end returns where the texts of the request end that begins with a text.
func (o *Original) end(from int) (end int) {
	if !o.predict {
		return min(from+batchTexts, len(o.texts))
	}
	size := 0
	for end = from; end < len(o.texts) && end < from+predictTexts; end++ {
		if size += len(o.texts[end]); size > predictBytes && end > from {
			break
		}
	}
	return end
}

// body returns the request for some texts.
func (o *Original) body(from, end int) []byte {
	list, put := "requests", o.putContent
	if o.predict {
		list, put = "instances", o.putInstance
	}
	size := 0
	for _, text := range o.texts[from:end] {
		size += len(text) + len(o.model) + 200 // what stands around it
	}
	w := translate.WriteTo(make([]byte, 0, size))
	w.Object()
	w.Array(list)
	for _, text := range o.texts[from:end] {
		w.Object()
		put(&w, text)
		w.End()
	}
	w.End()
	if o.predict {
		w.Object("parameters")
		o.putSettings(&w)
		w.End()
	}
	w.End()
	return w.Bytes()
}

// putContent writes the members of a request in batchEmbedContents. The places of the settings are
// those of the SDK.
func (o *Original) putContent(w *translate.Writer, text []byte) {
	if !o.vertex {
		w.StringMember("model", "models/"+o.model)
	}
	w.Object("content")
	w.StringMember("role", "user")
	w.Array("parts")
	w.Object()
	w.Member("text", append([]byte(`"`+o.task.prefix), text[1:]...))
	w.End()
	w.End()
	w.End()
	if o.vertex {
		w.Object("embedContentConfig")
	}
	if o.task.field != "" {
		w.StringMember("taskType", o.task.field)
	}
	if o.putSettings(w); o.vertex {
		w.End()
	}
}

// putInstance writes the members of an instance of predict.
func (o *Original) putInstance(w *translate.Writer, text []byte) {
	w.Member("content", text)
	if o.task.field != "" {
		w.StringMember("task_type", o.task.field)
	}
}

// putSettings writes what predict has once and batchEmbedContents for each text. Vertex AI would
// cut a text that is too long, and say so only in the answer.
func (o *Original) putSettings(w *translate.Writer) {
	if o.size > 0 {
		w.IntMember("outputDimensionality", o.size)
	}
	if o.vertex {
		w.BoolMember("autoTruncate", false)
	}
}
