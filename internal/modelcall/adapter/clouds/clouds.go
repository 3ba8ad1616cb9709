// Package clouds is the dialects of clouds that have a protocol of their own: Amazon Bedrock's
// Converse and InvokeModel, and Claude on Vertex AI. It registers them.
package clouds

import (
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/adapter"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/chatongemini"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/messagesoncloud"
)

func init() {
	adapter.Register(
		adapter.Dialect{Dialect: vertexAnthropic, Adapters: map[provider.Operation]adapter.Adapter{
			provider.Messages:    claude(messagesoncloud.Vertex, chatongemini.Refusal),
			provider.CountTokens: claude(messagesoncloud.VertexCount, chatongemini.Refusal),
		}},
		adapter.Dialect{Dialect: bedrock, Adapters: map[provider.Operation]adapter.Adapter{
			provider.Chat: converse, provider.CountTokens: converseCount, provider.Embeddings: bedrockEmbeddings,
		}},
		adapter.Dialect{Dialect: bedrockAnthropic, Adapters: map[provider.Operation]adapter.Adapter{
			provider.Messages: claude(messagesoncloud.Bedrock, nil), provider.CountTokens: claudeCount,
		}},
	)
}
