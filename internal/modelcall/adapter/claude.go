package adapter

import (
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/messagesoncloud"
)

// claude is the Messages API on a platform of a cloud. Refusal reads the platform's errors where these
// are not AWS'.
func claude(p *messagesoncloud.Platform, refusal func(int, http.Header, []byte) translate.Refusal) Adapter {
	answer := p.Answer(refusal)
	return func(r *Request) (*Adapted, error) {
		header, leftOut, err := p.Request(r.Body, r.Caller, r.Provider.Betas, r.Stream)
		if err != nil {
			return nil, err
		}
		return &Adapted{Body: r.Body.Segments(nil), Header: header, LeftOut: leftOut, call: r.Call, answer: answer}, nil
	}
}

// claudeCount is count_tokens of the Messages API, by Bedrock's CountTokens.
func claudeCount(r *Request) (*Adapted, error) {
	a, err := claude(messagesoncloud.Bedrock, nil)(r)
	if err != nil {
		return nil, err
	}
	a.Body, a.answer = [][]byte{messagesoncloud.CountRequest(r.Body)}, bedrockCount
	return a, nil
}
