import type { DialectName, Json } from '../../dialects/dialect.js';
import { mapRequestTexts, type Role } from '../../dialects/request-texts.js';

/** One text of a request, and where it stands: `messages.3.content.0.text`. */
export interface Piece {
  readonly text: string;
  readonly role: Role;
  readonly at: string;
}

export const piecesOf = (dialect: DialectName, body: Json): readonly Piece[] => {
  const pieces: Piece[] = [];
  mapRequestTexts(dialect, body, (text, role, at) => {
    pieces.push({ text, role, at });
    return text;
  });
  return pieces;
};
