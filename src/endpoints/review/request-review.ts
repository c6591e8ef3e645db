import type { Judgement, Match } from '../../core/review.js';
import type { DialectName, InferenceRequest, Json } from '../../dialects/dialect.js';
import { mapRequestTexts } from '../../dialects/request-texts.js';
import { decide } from '../../rules/policy-gateway/decide.js';
import type { Redactor } from '../../text/redact.js';
import { Collected } from './collected.js';
import type { Inspect } from './inspect.js';
import { decodedSlowly, isEscaped } from './json-strings.js';
import { maskArgumentsSlowly, maskSlowly } from './mask.js';
import { piecesOf, type Piece } from './pieces.js';
import { looksForData, masksData, type Scene } from './scene.js';
import { Turns } from './turns.js';

export interface ReviewedRequest {
  readonly judgement: Judgement;
  /** The request with personal data masked, where that is asked for. */
  readonly request: InferenceRequest;
  /** What the user said last: an answer is judged with it. */
  readonly lastUserText: string;
}

/** The turn a piece belongs to, so that the last one can be told: `messages.3.content.0.text` -> `messages.3`. */
const turnOf = ({ at }: Piece): string => at.split('.', 2).join('.');

/** Whether a piece is the JSON text of a call's arguments. */
const isCall = ({ at }: Piece): boolean => at.endsWith('.arguments');

/** The texts to read of a piece: of a call also what it says where escapes hide it. */
const readingsOf = async (piece: Piece, turns: Turns): Promise<readonly string[]> =>
  isCall(piece) && isEscaped(piece.text)
    ? [piece.text, await decodedSlowly(piece.text, turns)]
    : [piece.text];

/** Reads every text of a request, and decides (D19, D31). */
export const reviewRequest = async (
  dialect: DialectName,
  request: InferenceRequest,
  scene: Scene,
  redactor: Redactor,
  inspect: Inspect,
  signal: AbortSignal,
): Promise<ReviewedRequest> => {
  const pieces = piecesOf(dialect, request.body);
  const collected = new Collected('request', scene.flagged);
  const listedByTurn = new Map<string, Set<string>>();
  const turns = new Turns();
  for (const piece of pieces)
    for (const text of await readingsOf(piece, turns)) {
      if (turns.isOver) await turns.next();
      const found = await inspect(text, 'request', scene, signal);
      if (found.categories.length > 0) collected.categories(found.categories, found.scores, piece.at);
      if (found.denied.length > 0) collected.denied(found.denied, piece.at);
      if (found.policies.length > 0) collected.policies(found.policies, piece.at);
      if (found.listed.length > 0 && piece.role === 'user') {
        const listed = listedByTurn.get(turnOf(piece)) ?? new Set();
        for (const term of found.listed) listed.add(term);
        listedByTurn.set(turnOf(piece), listed);
      }
    }

  const last = pieces.findLast(({ role }) => role === 'user');
  if (scene.compiled.allowlist && scene.standing.decides && last) {
    const listed = listedByTurn.get(turnOf(last));
    if (listed) collected.listed(listed, last.at);
    else collected.allowlistMiss = true;
  }

  const masked: string[] = [];
  if (looksForData(scene))
    for (const piece of pieces) {
      if (turns.isOver) await turns.next();
      const { text, at, isFixed } = piece;
      if (isFixed) {
        masked.push(text); // nothing there is masked, so nothing is said to be
        continue;
      }
      const result = await (isCall(piece)
        ? maskArgumentsSlowly(text, redactor, turns)
        : maskSlowly(text, redactor));
      for (const kind of result.kinds) collected.masked(kind, at);
      masked.push(result.text);
    }
  const body = masksData(scene) ? withTexts(dialect, request.body, masked) : request.body;

  const judgement = decide(scene.compiled.config, collected.findings, scene.standing);
  return {
    judgement:
      judgement.matches.length > 0
        ? { ...judgement, matches: placed(judgement.matches, collected) }
        : judgement,
    request: body === request.body ? request : { ...request, body },
    lastUserText: last?.text ?? '',
  };
};

/** The body with other texts, in the order in which it is walked. */
const withTexts = (dialect: DialectName, body: Json, texts: readonly string[]): Json => {
  let next = 0;
  return mapRequestTexts(dialect, body, () => texts[next++]!);
};

const placed = (matches: readonly Match[], collected: Collected): readonly Match[] =>
  matches.map((match) => {
    const at = collected.placeOf(match.kind, match.name);
    return at === undefined ? match : { ...match, at };
  });
