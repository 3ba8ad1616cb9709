package gemini

import (
	"iter"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

// Candidate has the members of a candidate as JSON, nil for those that are absent.
type Candidate struct {
	FinishReason, FinishMessage, ContinuationToken      []byte
	LogprobsResult, GroundingMetadata, CitationMetadata []byte

	Extra bool // it has one of these

	parts   []byte
	partsAt int // in the response
}

// ReadCandidate reads the candidate at an index of a response.
func ReadCandidate(at int, object []byte) (c Candidate) {
	for m := range jsonscan.AllMembers(object) {
		value := m.Value(object)
		switch string(m.DecodedKey(object)) {
		case "content":
			for inner := range jsonscan.AllMembers(value) {
				if string(inner.DecodedKey(value)) == "parts" {
					c.parts, c.partsAt = inner.Value(value), at+m.ValueStart+inner.ValueStart
				}
			}
			continue
		case "finishReason":
			c.FinishReason = value
		case "finishMessage":
			c.FinishMessage = value
		case "continuationToken":
			c.ContinuationToken = value
		case "logprobsResult":
			c.LogprobsResult = value
		case "groundingMetadata":
			c.GroundingMetadata = value
		case "citationMetadata":
			c.CitationMetadata = value
		default:
			continue
		}
		c.Extra = true
	}
	return c
}

// Part is a part of a candidate's content. Values are JSON, nil for those that are absent.
type Part struct {
	Text                        []byte
	TextAt                      openai.Variable // in the response
	Thought                     bool
	Signature, Call, InlineData []byte
	Other                       bool // it has another member
}

// Parts returns the parts of the content.
func (c *Candidate) Parts() iter.Seq[Part] {
	return func(yield func(Part) bool) {
		for span := range jsonscan.AllElements(c.parts) {
			if !yield(readPart(c.partsAt+span.Start, span.Value(c.parts))) {
				return
			}
		}
	}
}

func readPart(at int, object []byte) (p Part) {
	for m := range jsonscan.AllMembers(object) {
		value := m.Value(object)
		switch string(m.DecodedKey(object)) {
		case "text":
			p.Text, p.TextAt = value, openai.Variable{Start: at + m.ValueStart, End: at + m.ValueEnd}
		case "thought":
			p.Thought = m.Kind == 't'
		case "thoughtSignature":
			p.Signature = value
		case "functionCall":
			p.Call = value
		case "inlineData":
			p.InlineData = value
		default:
			p.Other = true
		}
	}
	return p
}
