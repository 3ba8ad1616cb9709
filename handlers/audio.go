package handlers

import (
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
)

// The APIs of sound.
func serveSpeech(x *apiRequest) error         { return x.call(wire.Speech) }
func serveTranscriptions(x *apiRequest) error { return x.call(wire.Transcriptions) }
func serveTranslations(x *apiRequest) error   { return x.call(wire.Translations) }
