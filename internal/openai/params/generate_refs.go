package params

import (
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/gemini"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// GenerateReferences is [References] for a request of Google's. All tools but functions and computerUse
// run at the provider. Caches, and files that were uploaded, are the provider's account's: nobody knows
// whose they are, so a request that names one is refused.
func GenerateReferences(b *jsonscan.Body) (Refs, error) {
	var r googleRefs
	r.request(b.Data())
	return r.Refs, r.err
}

type googleRefs struct{ Refs }

func (r *googleRefs) request(object []byte) {
	for m := range jsonscan.AllMembers(object) {
		if m.Kind == 'n' {
			continue
		}
		value := m.Value(object)
		switch googleKey(m.DecodedKey(object)) {
		case "tools":
			r.tools(value)
		case "cachedcontent":
			r.fail(apierror.New(apierror.UnsupportedParameter, "%q is not possible here: caches belong to the provider's account; send the whole prompt", "cachedContent").
				WithParam("cachedContent"))
		case "contents", "systeminstruction", "content":
			r.files(value)
		case "generatecontentrequest":
			r.request(value)
		case "requests":
			for e := range jsonscan.AllElements(value) {
				r.request(e.Value(value))
			}
		}
	}
}

// tools counts the functions, and each other tool as one.
func (r *googleRefs) tools(value []byte) {
	switch value[0] {
	case '{': // Google takes it for a list of one
		r.tool(value)
	case '[':
		for e := range jsonscan.AllElements(value) {
			r.tool(e.Value(value))
		}
	default:
		r.fail(wrong("tools", "an array"))
	}
}

func (r *googleRefs) tool(object []byte) {
	for m := range jsonscan.AllMembers(object) {
		if m.Kind == 'n' {
			continue
		}
		switch key := m.DecodedKey(object); googleKey(key) {
		case "functiondeclarations":
			r.Tools.Count += count(m.Value(object))
		case "computeruse":
			r.Tools.Count++
			r.Tools.BuiltIn++
		default:
			r.Tools.Count++
			r.Tools.AddHosted(string(key), "tools")
		}
	}
}

// files refuses a file of the provider's account: one that was uploaded, or in a bucket. Others are read
// from a public address.
func (r *googleRefs) files(value []byte) {
	tokens := jsonscan.Walk(value)
	uri, data := false, false // the last key was fileUri, or of what a function gets or gives
	for t, ok := tokens.Next(); ok; t, ok = tokens.Next() {
		text := value[t.Start:t.End]
		if t.Kind == '{' && data {
			tokens.Skip()
		}
		if t.Kind == '"' && uri && !isPublic(text) {
			r.fail(apierror.New(apierror.UnsupportedParameter, "%q must be a public https URL outside Google's APIs: uploaded files and buckets belong to the provider's account", "fileUri").
				WithParam("fileUri"))
		}
		uri, data = false, false
		if t.Kind == jsonscan.Key {
			key := googleKey(decodedKey(text))
			uri, data = key == "fileuri", key == "args" || key == "response"
		}
	}
}

// decodedKey returns a key that is given with its quotes.
func decodedKey(quoted []byte) []byte {
	text, _ := jsonscan.String(quoted)
	return []byte(text)
}

// isPublic reports whether a quoted URL is of no file of an account at Google.
func isPublic(value []byte) bool {
	text, _ := jsonscan.String(value)
	return gemini.PublicURL(text)
}
