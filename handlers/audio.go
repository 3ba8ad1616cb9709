package handlers

import (
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
)

// The APIs of sound.
func serveSpeech(x *Request) error         { return x.Call(wire.Speech) }
func serveTranscriptions(x *Request) error { return x.Call(wire.Transcriptions) }
func serveTranslations(x *Request) error   { return x.Call(wire.Translations) }
