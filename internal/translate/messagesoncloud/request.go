package messagesoncloud

import (
	"bytes"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/anthropic"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/aws"
)

// Request edits a Messages request for the platform, and returns its header and what it is sent
// without: fields, and beta features. Extra are beta features that the platform knows besides the
// usual ones.
func (p *Platform) Request(b *jsonscan.Body, caller http.Header, extra []string, stream bool) (header http.Header, leftOut []string, err error) {
	betas, leftOut := p.known(caller[anthropic.BetaHeader], extra)
	without, err := p.dropFields(b, betas)
	if err != nil {
		return nil, nil, err
	}
	leftOut = append(leftOut, without...)
	if p.modelInPath {
		drop(b, "model")
	}
	if p.streamInPath {
		drop(b, "stream")
	}
	drop(b, bodyVersion)
	b.Add(bodyVersion, jsonscan.AppendString(nil, p.version(caller.Get(anthropic.VersionHeader))))
	header = http.Header{}
	if stream && p.frames {
		header["Accept"] = []string{aws.ContentType}
	}
	switch {
	case len(betas) == 0:
	case p.betasInBody:
		drop(b, bodyBetas)
		b.Add(bodyBetas, appendStrings(nil, betas))
	default:
		header[anthropic.BetaHeader] = []string{strings.Join(betas, ",")}
	}
	return header, leftOut, nil
}

// CountRequest returns the request of Bedrock's CountTokens for a request that [Platform.Request]
// has edited. It is that of a call, which has an output limit.
func CountRequest(b *jsonscan.Body) []byte {
	if _, has := b.Find("max_tokens"); !has {
		var unread error // a wrong budget is the provider's to refuse
		thinking, _ := translate.Read(b, &unread).Object("thinking")
		_, budget := thinking.Int("budget_tokens", 0) // that the limit must exceed
		b.Add("max_tokens", strconv.AppendInt(nil, budget+1, 10))
	}
	out := []byte(`{"input":{"invokeModel":{"body":"`)
	out = base64.StdEncoding.AppendEncode(out, bytes.Join(b.Segments(nil), nil))
	return append(out, `"}}}`...)
}

// Members of a body that are headers at Anthropic.
const (
	bodyVersion = "anthropic_version"
	bodyBetas   = "anthropic_beta"
)

func drop(b *jsonscan.Body, name string) {
	if i, has := b.Find(name); has {
		b.Drop(i)
	}
}

func appendStrings(dst []byte, list []string) []byte {
	dst = append(dst, '[')
	for _, s := range list {
		dst = jsonscan.AppendString(translate.AppendComma(dst), s)
	}
	return append(dst, ']')
}
