package chatongemini

import (
	"unicode/utf8"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// sources are what an answer cites; both objects come with its last event. Google counts bytes of
// the answer's text in UTF-8, and chat counts characters.
type sources struct {
	text      []byte // of the answer, if it may cite what it found
	grounding []byte // groundingMetadata
	citations []byte // citationMetadata: works that the answer quotes
}

// characters returns how many characters the first bytes of the text have, 0 if it was not kept.
func (s *sources) characters(bytes int64) int64 {
	return int64(utf8.RuneCount(s.text[:min(bytes, int64(len(s.text)))]))
}

// cite writes the citations of the answer:
//
//	{"groundingChunks": [{"web": {"uri", "title"}}],
//	 "groundingSupports": [{"segment": {"startIndex", "endIndex"}, "groundingChunkIndices": [0]}]}
//	{"citationSources": [{"uri", "title", "startIndex", "endIndex"}]}, on Vertex AI "citations"
func (r *reader) cite() {
	s, written := &r.sources, 0
	cite := func(source, segment []byte) {
		uri, title := translate.Member(source, "uri"), translate.Member(source, "title")
		if _, ok := translate.Unquoted(uri); !ok || written == translate.MaxItems {
			return
		}
		if len(title) == 0 || title[0] != '"' {
			title = []byte(`""`)
		}
		written++
		start, end := s.characters(translate.CountOf(segment, "startIndex")), s.characters(translate.CountOf(segment, "endIndex"))
		r.to.Citation(translate.NewCitation(uri, title, start, end))
	}
	chunks := translate.Member(s.grounding, "groundingChunks")
	found := jsonscan.Elements(chunks, nil)
	translate.EachObject(translate.Member(s.grounding, "groundingSupports"), func(support []byte) {
		indices := translate.Member(support, "groundingChunkIndices")
		for index := range jsonscan.AllElements(indices) {
			i, ok := jsonscan.Int(index.Value(indices))
			if !ok || i < 0 || i >= int64(len(found)) {
				continue
			}
			chunk := found[i].Value(chunks)
			for kind := range jsonscan.AllMembers(chunk) { // web, maps, retrievedContext
				cite(kind.Value(chunk), translate.Member(support, "segment"))
			}
		}
	})
	for _, list := range []string{"citationSources", "citations"} {
		translate.EachObject(translate.Member(s.citations, list), func(source []byte) { cite(source, source) })
	}
}
