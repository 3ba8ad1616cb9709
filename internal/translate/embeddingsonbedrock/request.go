// Package embeddingsonbedrock serves a caller of OpenAI's embeddings by the models of Amazon
// Bedrock that embed, with InvokeModel:
//
//	Titan   {"inputText", "dimensions"}                    →  {"embedding", "inputTextTokenCount"}
//	Cohere  {"texts", "input_type", "output_dimension"}    →  {"embeddings": [[…]] or {"float": [[…]]}}
//
// Cohere's tokens are in a field of the header. Texts that are more than one request may have,
// which is one for Titan, are sent in several.
//
// Sources: botocore 1.44.5, the pages of Bedrock on the parameters of models, and LiteLLM. Nothing
// here was tried against an account.
package embeddingsonbedrock

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/aws"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/embedding"
)

// model is what models that embed take.
type model struct {
	part   string // of their ids
	texts  int    // in one request
	cohere bool   // else Titan's
	size   string // the member for dimensions; "": they have one size
}

// ModelsDate is when the table was compared with the pages of Bedrock.
const ModelsDate = "2026-11-24"

var models = []model{
	{part: "amazon.titan-embed-text-v2", texts: 1, size: "dimensions"},
	{part: "amazon.titan-embed-text-v1", texts: 1},
	{part: "amazon.titan-embed-g1-text", texts: 1},
	{part: "cohere.embed-v4", texts: 96, cohere: true, size: "output_dimension"},
	{part: "cohere.embed-english-v3", texts: 96, cohere: true},
	{part: "cohere.embed-multilingual-v3", texts: 96, cohere: true},
}

// Original is what of a request its answer needs. [Request] makes it.
type Original struct {
	model   model
	typ     string   // Cohere's input_type
	size    int64    // dimensions; 0: the model's own
	texts   [][]byte // what is embedded, as JSON strings
	base64  bool     // the caller wants vectors in this form
	leftOut []string
	counted int64 // tokens in the header of the answer that is read next
}

// Request translates an embeddings request that params.ParseEmbeddings accepted. The error is a
// [*apierror.Error] with status 400 that names a field of the caller's. Neither result refers to b.
// The model is as the provider calls it.
func Request(b *jsonscan.Body, name string) (body []byte, original *Original, err error) {
	request := translate.Read(b, &err)
	o := &Original{}
	o.texts, o.base64 = embedding.Read(request)
	for _, m := range models {
		if strings.Contains(name, m.part) {
			o.model = m
		}
	}
	if o.model.part == "" {
		request.Fail(apierror.New(apierror.UnsupportedParameter, "the gateway does not know the model as one of Bedrock's that embed texts").WithParam("model"))
	}
	o.readType(request)
	if _, o.size = request.Int("dimensions", 1); o.size > 0 && o.model.size == "" {
		request.Fail(translate.Unsupported("dimensions"))
	}
	if err != nil {
		return nil, nil, err
	}
	return o.body(0, o.end(0)), o, nil
}

// LeftOut returns the names of the fields that the request is sent without.
func (o *Original) LeftOut() []string { return o.leftOut }

// types are Cohere's words for what texts are, by those of other providers and its own.
var types = map[string]string{
	"document": "search_document", "passage": "search_document", "retrieval_document": "search_document", "search_document": "search_document",
	"query": "search_query", "retrieval_query": "search_query", "search_query": "search_query",
	"classification": "classification", "clustering": "clustering",
}

// readType reads input_type. OpenAI has no such field, and Cohere requires it; Titan has none.
func (o *Original) readType(request translate.Reader) {
	word := request.DecodedText("input_type")
	switch {
	case word != "" && types[strings.ToLower(word)] == "":
		request.Fail(translate.UnsupportedValue("input_type", word))
	case word != "" && !o.model.cohere:
		o.leftOut = append(o.leftOut, "input_type")
	case word != "":
		o.typ = types[strings.ToLower(word)]
	default:
		o.typ = "search_document"
	}
}

// end returns where the texts of the request end that begins with a text.
func (o *Original) end(from int) int { return min(from+o.model.texts, len(o.texts)) }

// body returns the request for some texts.
func (o *Original) body(from, end int) []byte {
	var w translate.Writer
	w.Object()
	if o.model.cohere {
		w.Array("texts")
		for _, text := range o.texts[from:end] {
			w.Raw(text)
		}
		w.End()
		w.StringMember("input_type", o.typ)
	} else {
		w.Member("inputText", o.texts[from])
	}
	if o.size > 0 {
		w.IntMember(o.model.size, o.size)
	}
	w.End()
	return w.Bytes()
}

// tokensField has the tokens of a request.
const tokensField = "X-Amzn-Bedrock-Input-Token-Count"

// Received takes the header of the answer that is read next.
func (o *Original) Received(header http.Header) {
	o.counted, _ = strconv.ParseInt(header.Get(tokensField), 10, 64)
}

// Refusal returns what the provider refused as OpenAI would have said it.
func (o *Original) Refusal(status int, header http.Header, body []byte) translate.Refusal {
	return aws.Refusal(status, header, body)
}
