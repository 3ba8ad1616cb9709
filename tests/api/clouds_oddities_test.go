package api

import (
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/faults"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// asClouds has the fake provider as clouds with a protocol of their own.
var asClouds = map[string]harness.Setup{
	"gemini": {Providers: `
	provider fake {
		dialect gemini
		base_url PROVIDER/gemini/v1beta
		api_key {env.PROVIDER_KEY}
		models *
		discover off
	}
`},
	"bedrock": {Providers: `
	provider fake {
		dialect bedrock
		base_url PROVIDER/bedrock
		region us-east-1
		api_key {env.PROVIDER_KEY}
		models *
		discover off
	}
`},
}

// cloudOddities are the behaviours that the clouds show in another way.
var cloudOddities = map[string]map[string]oddity{
	"gemini": { // which is always asked for a stream
		"azure-filter":    never.as(400, "upstream_rejected"),
		"err-first-event": never.as(503, "upstream_overloaded"),
		"err-mid-stream":  cut.as(503, "upstream_overloaded"),
		"malformed":       {chat: refused, chatStream: failed},
		"no-done":         cut,
		"null-fields":     {},
		"overloaded":      never.as(503, "upstream_overloaded"),
		"response-failed": cut.as(503, "upstream_overloaded"),
		"spend-cap":       never.as(429, "upstream_rate_limited"),
	},
	"bedrock": {
		"azure-filter": never.as(400, "upstream_rejected"),
		"no-done":      {chatStream: broken},
		"spend-cap":    never.as(429, "upstream_rate_limited"),
	},
}

// notOnClouds are the behaviours of OpenAI's API that fake clouds cannot show in their own: all of
// them, or one.
var notOnClouds = map[string]string{"crlf": "all", "gzip": "all", "no-stream": "all", "refusal": "all", "wrong-type-200": "all", "overloaded": "bedrock"}

func TestNoOddityOfACloudCountsAsSuccess(t *testing.T) {
	for cloud, setup := range asClouds {
		t.Run(cloud, func(t *testing.T) {
			h := harness.Start(t, setup)
			for _, name := range faults.Behaviours() {
				o, other := cloudOddities[cloud][name]
				if !other {
					o = oddities[name]
				}
				if not := notOnClouds[name]; not == "all" || not == cloud {
					continue
				}
				t.Run(name, func(t *testing.T) {
					for _, path := range translatedPaths(name) {
						oddCall(h, t, name, path, "", o, o.chat)
						oddCall(h, t, name, path, harness.Streaming, o, o.chatStream)
					}
					if isHuge(name) {
						return
					}
					oddMessage(h, t, name, "", o, o.chat)
					oddMessage(h, t, name, harness.Streaming, o, o.chatStream)
				})
			}
		})
	}
}
