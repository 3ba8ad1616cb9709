package chatonconverse

import "github.com/gatehouse-proxy/gatehouse/internal/translate"

// fields is the table of the fields of a chat request. docs/bedrock.md shows it.
var fields = translate.ChatFields(nil)
