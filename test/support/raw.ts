import { connect } from 'node:net';

/** Writes bytes to a port and gives all that comes back until the other side closes (or `enough` says so). */
export const exchange = (
  port: number,
  bytes: string | Buffer,
  enough: (text: string) => boolean = () => false,
): Promise<string> =>
  new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    const done = (): void => {
      socket.destroy();
      resolve(text);
    };
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      if (enough(text)) done();
    });
    socket.on('close', done);
    socket.on('error', (error) => (text === '' ? reject(error) : done()));
  });
