package clouds

import (
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/adapter"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/messagesoncloud"
)

// claude is the Messages API on a platform of a cloud. Refusal reads the platform's errors where
// these are not AWS'.
func claude(p *messagesoncloud.Platform, refusal func(int, http.Header, []byte) translate.Refusal) adapter.Adapter {
	answer := p.Answer(refusal)
	return func(r *adapter.Request) (*adapter.Adapted, error) {
		header, leftOut, err := p.Request(r.Body, r.Caller, r.Provider.Betas, r.Stream)
		if err != nil {
			return nil, err
		}
		return &adapter.Adapted{Body: r.Body.Segments(nil), Header: header, LeftOut: leftOut, Call: r.Call, From: answer}, nil
	}
}

// claudeCount is count_tokens of the Messages API, by Bedrock's CountTokens.
func claudeCount(r *adapter.Request) (*adapter.Adapted, error) {
	a, err := claude(messagesoncloud.Bedrock, nil)(r)
	if err != nil {
		return nil, err
	}
	a.Body, a.From = [][]byte{messagesoncloud.CountRequest(r.Body)}, bedrockCount
	return a, nil
}
